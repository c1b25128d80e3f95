# pictures.gp
#	One picture of script/bench as SVG: picture names it, data is the file of its
#	lines, so many, and out the picture's; dark is 1 for a dark page.  Colours are those
#	of Okabe and Ito, which all can tell apart; each line has its own points besides,
#	and those of a line that another may hide are larger.  Beyond seven lines, they
#	come again, dashed.

ink = dark ? '#c9d1d9' : '#24292f'
faint = dark ? '#30363d' : '#d0d7de'
array colour[7]
colour[1] = dark ? '#56b4e9' : '#0072b2'
colour[2] = dark ? '#e69f00' : '#d55e00'
colour[3] = dark ? '#2ec4a0' : '#009e73'
colour[4] = dark ? '#e79ac6' : '#b5548c'
colour[5] = dark ? '#f0e442' : '#8a7300'
colour[6] = dark ? '#9aa4ff' : '#3d3d9e'
colour[7] = dark ? '#c9d1d9' : '#57606a'
array shape[10] = [7, 5, 9, 13, 11, 6, 4, 2, 3, 8]

set terminal svg size 720,440 font 'sans-serif,14' background (dark ? '#0d1117' : '#ffffff') linewidth 1.5
set output out
set border 3 linecolor rgb ink
set tics nomirror textcolor rgb ink
set grid linecolor rgb faint linewidth 0.7 dashtype 1
set key outside bottom center horizontal reverse Left noenhanced textcolor rgb ink autotitle columnhead
set key title ' ' font ',8' # a gap above
set title textcolor rgb ink font ',15'
set xlabel textcolor rgb ink
set ylabel textcolor rgb ink
set logscale x
set offsets graph 0.02, graph 0.02, graph 0.05, 0
set xrange [*:*] noextend
set yrange [0:*]
set format x '10^{%L}'

if (picture eq 'build') {
	set title 'Building a filter: time over count(title)'
	set xlabel 'elements n, texts of 7 to 15 bytes'
	set ylabel 'times as long as count(title)'
}
if (picture eq 'lookup') {
	set title "Asking a filter: time over a btree's"
	set xlabel 'elements n in the filter and in the btree, texts of 7 to 15 bytes'
	set ylabel "a lookup, as a fraction of the btree's"
}
if (picture eq 'fpp') {
	set title 'False positives: measured over promised'
	set xlabel 'promised probability p'
	set ylabel 'measured / p'
}
if (picture eq 'insert') {
	set title "What a new row costs a live filter, over a btree's"
	set xlabel 'rows n in the table'
	set ylabel "as a fraction of the btree's"
}
if (picture eq 'size') {
	set title "Size over a btree's on the same titles of 50 bytes"
	set xlabel 'promised probability p of a false positive'
	set ylabel "% of the btree's bytes"
}

if (picture ne 'size') {
	set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb ink linewidth 0.8 dashtype 2
}
plot for [i = 0:lines - 1] data index i using 1:2:3:4 with yerrorbars \
	linecolor rgb colour[i % 7 + 1] pointtype shape[i + 1] pointsize 0.5 notitle, \
	for [i = 0:lines - 1] data index i using 1:2 with linespoints \
	linecolor rgb colour[i % 7 + 1] dashtype 1 + (i > 6) pointtype shape[i + 1] pointsize 1.1 - 0.06 * i title columnheader(1)
