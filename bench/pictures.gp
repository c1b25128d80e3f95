# pictures.gp
#	One picture of script/bench as SVG: picture names it, data is the file of its
#	lines, lines their number, and out the picture's file; dark is 1 for a dark page.
#	Colours are those of Okabe and Ito, which all can tell apart; each line has its own
#	points besides, and those of a line that another may hide are larger.  Letters are as
#	large as they are so that they can be read where a page shows the picture at 360
#	pixels.

ink = dark ? '#c9d1d9' : '#24292f'
faint = dark ? '#30363d' : '#d0d7de'
array colour[5]
colour[1] = dark ? '#56b4e9' : '#0072b2'
colour[2] = dark ? '#e69f00' : '#d55e00'
colour[3] = dark ? '#2ec4a0' : '#009e73'
colour[4] = dark ? '#e79ac6' : '#b5548c'
colour[5] = dark ? '#f0e442' : '#8a7300'
array shape[5] = [7, 5, 9, 13, 11]

set terminal svg size 560,500 font 'sans-serif,17' background (dark ? '#0d1117' : '#ffffff') linewidth 1.7
set output out
set border 3 linecolor rgb ink
set tics nomirror textcolor rgb ink
set grid linecolor rgb faint linewidth 0.7 dashtype 1
set key outside bottom center vertical maxrows 5 reverse Left noenhanced textcolor rgb ink autotitle columnhead
set key title ' ' font ',8' # a gap above
set title textcolor rgb ink font ',19'
set xlabel textcolor rgb ink
set ylabel textcolor rgb ink
set logscale x
set offsets graph 0.02, graph 0.02, graph 0.05, 0
set xrange [*:*] noextend
set yrange [0:*]
set format x '10^{%L}'

if (picture eq 'new') {
	set title '100,000 titles come, half are new: store those'
	set xlabel 'titles in the table'
	set ylabel 'seconds'
	set logscale y
	set yrange [*:*]
}
if (picture eq 'lookup') {
	set title "Is this title there? Time, as a share of a btree's"
	set xlabel 'titles in the table'
	set ylabel 'btree = 1'
	set logscale y
	set yrange [*:1.5]
}
if (picture eq 'blocks') {
	set title "Blocks read, buffers a fifth of the btree"
	set xlabel '% of the titles asked for that are there'
	set ylabel 'blocks read per title'
	unset logscale x
	set format x '%g'
}
if (picture eq 'build') {
	set title 'Build a filter: time over count(title)'
	set xlabel 'titles'
	set ylabel 'count(title) = 1'
}
if (picture eq 'fpp') {
	set title 'False positives: measured over promised'
	set xlabel 'promised probability'
	set ylabel 'promised = 1'
}
if (picture eq 'insert') {
	set title "A new row: cost, as a share of a btree's"
	set yrange [0:1.05<*]
	set xlabel 'rows in the table'
	set ylabel 'btree = 1'
}
if (picture eq 'size') {
	set title "Size, as % of a btree on the same titles"
	set xlabel 'promised probability of a false positive'
	set ylabel "% of the btree's bytes"
}

# The line of what is compared with, where all is a multiple of it.
if (picture eq 'lookup' || picture eq 'build' || picture eq 'fpp' || picture eq 'insert') {
	set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb ink linewidth 1 dashtype 2
}
plot for [i = 0:lines - 1] data index i using 1:2:3:4 with yerrorbars \
	linecolor rgb colour[i + 1] pointtype shape[i + 1] pointsize 0.5 notitle, \
	for [i = 0:lines - 1] data index i using 1:2 with linespoints \
	linecolor rgb colour[i + 1] pointtype shape[i + 1] pointsize 1.2 - 0.1 * i title columnheader(1)
