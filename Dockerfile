# Dockerfile
#	bloomext on an official image of PostgreSQL, 15 to 19, or on one with its layout: a
#	Debian with PG_MAJOR, and an apt that has postgresql-server-dev-$PG_MAJOR.
#
#		docker build --build-arg BASE=postgres:18 -t bloomext .
#
#	The first stage builds; the images have only what "make install" installs, and
#	hiredis.  That lies next to the library that needs it, whose run path leads there, so
#	that no package of the base changes.  Target "volume" is the extension alone, to be
#	mounted by CloudNativePG, PostgreSQL 18 or newer:
#
#		docker build --build-arg BASE=postgres:18 --target volume -t bloomext-volume .
#
#	script/docker-smoke tries all of it.
ARG BASE=postgres:17

FROM $BASE AS build
USER root
RUN apt-get update && apt-get install -y --no-install-recommends gcc libhiredis-dev libssl-dev make pkgconf postgresql-server-dev-$PG_MAJOR
COPY . /src
WORKDIR /src
ENV PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
RUN make -s -j"$(nproc)" WITH_HIREDIS=yes PG_LDFLAGS="-Wl,-rpath,'\$\$ORIGIN'"
RUN make -s install WITH_HIREDIS=yes DOCUMENTS= DESTDIR=/installed && \
	ldd /installed/usr/lib/postgresql/$PG_MAJOR/lib/bloomext_hiredis.so | awk '/hiredis/ { print $3 }' | \
		xargs -I{} cp -L {} /installed/usr/lib/postgresql/$PG_MAJOR/lib && \
	mkdir /volume && \
	cp -R /installed/usr/share/postgresql/$PG_MAJOR /volume/share && \
	cp -R /installed/usr/lib/postgresql/$PG_MAJOR/lib /volume/lib

FROM scratch AS volume
COPY --from=build /volume /

FROM $BASE
COPY --from=build /installed /
