# bloomext: make && make install && make installcheck (PGXS)
#
# PG_CONFIG names the PostgreSQL to build for.  WITH_HIREDIS=yes builds what
# connects to Redis as well, =no does not; by default, it is built where there is
# hiredis.  The functions over Redis need it, and say so where it is not installed.
# make -f .../Makefile in another folder builds there.

SOURCE := $(dir $(abspath $(firstword $(MAKEFILE_LIST))))
files = $(sort $(patsubst $(SOURCE)%,%,$(wildcard $(addprefix $(SOURCE),$(1)))))

EXTENSION = bloomext bloomext_citus
MODULE_big = bloomext
DATA = $(call files,sql/bloomext*--*.sql src/redis/function/*.lua)

ifndef WITH_HIREDIS
WITH_HIREDIS := $(shell pkg-config --exists hiredis 2>/dev/null && echo yes || echo no)
ifeq ($(WITH_HIREDIS),no)
$(warning functions over Redis are left out, as $(if $(shell command -v pkg-config),there is no hiredis,there is no pkg-config to find hiredis by); WITH_HIREDIS=no omits this warning)
endif
endif
ifeq ($(filter yes no,$(WITH_HIREDIS)),)
$(error WITH_HIREDIS is "$(WITH_HIREDIS)", and can be yes or no)
endif

# Its own functions are called directly, as those that are hidden are anyway
# (PostgreSQL 16 hides them): a fourteenth of bf_agg's time.
DIRECTLY_linux = -Wl,-Bsymbolic-functions
SHLIB_LINK = $(DIRECTLY_$(PORTNAME))

OBJS = $(patsubst %.c,%.o,$(filter-out src/hiredis/%,$(call files,src/*.c src/*/*.c)))
LUA_HEADER = $(CURDIR)/src/redis/scripts.h
PRIVATE_HEADERS = $(filter-out src/redis/scripts.h,$(call files,src/*.h src/*/*.h)) $(LUA_HEADER)

# Sizes must come out as Java computes them: no fused multiply-add, and not in
# the 80 bits of the registers that 32-bit x86 had first.
EXACTLY = -ffp-contract=off $(if $(filter i%86,$(host_cpu)),-msse2 -mfpmath=sse)
PG_CPPFLAGS += -I$(SOURCE)src -I$(CURDIR)/src
PG_CFLAGS = $(EXACTLY)

REGRESS = $(patsubst sql/%.sql,%,$(filter-out $(DATA),$(call files,sql/*.sql)))
TEST_MODULES = $(CURDIR)/test/nodes/build/nodes.so $(CURDIR)/test/provider/build/provider.so
REGRESS_PREP = $(CURDIR)/test/vectors $(TEST_MODULES)
REGRESS_OPTS = --encoding=UTF8 --no-locale --load-extension=bloomext
TAP_TESTS = 1
PROVE_TESTS = test/t/*/*.pl
EXTRA_CLEAN = $(LUA_HEADER) test/unit/unit test/unit/unit-asan $(wildcard test/*/build) results

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)

# Not every package of PostgreSQL has the tester, nor every release gates.
ifneq ($(wildcard $(dir $(PGXS))../test/isolation/isolationtester*),)
ISOLATION = $(filter-out $(if $(filter 14,$(MAJORVERSION)),gate-%),$(patsubst test/isolation/specs/%.spec,%,$(call files,test/isolation/specs/*.spec)))
endif
ISOLATION_OPTS := --inputdir=$(SOURCE)test/isolation $(REGRESS_OPTS)

include $(PGXS)

# What is compiled as a query runs computes no other sizes.
override BITCODE_CFLAGS += $(EXACTLY)

# Documents lie next to each other as they do here, or their links lead nowhere.
DOCUMENTS = $(call files,README.md CHANGELOG.md LICENSE SECURITY.md doc/*.md doc/pictures/*.svg clients/*.md clients/*/*.* clients/*/src/*/*/*/*.java bench/*.md)
DOCUMENTS_DIR = $(DESTDIR)$(docdir)/$(docmoduledir)/bloomext
install: install-documents
uninstall: uninstall-documents
install-documents:
	for i in $(DOCUMENTS); do \
		$(MKDIR_P) '$(DOCUMENTS_DIR)'/$$(dirname $$i) && $(INSTALL_DATA) $(SOURCE)$$i '$(DOCUMENTS_DIR)'/$$i || exit; \
	done
uninstall-documents:
	rm -rf '$(DOCUMENTS_DIR)'

# By absolute paths, or make would take the source's folders for them.
FOLDERS = $(sort $(addprefix $(CURDIR)/,$(dir $(OBJS)) src/hiredis/))
$(OBJS): $(PRIVATE_HEADERS) | $(FOLDERS)
$(OBJS:.o=.bc): $(LUA_HEADER) | $(FOLDERS)
$(FOLDERS):
	@mkdir -p $@

# bloomext_hiredis.so, by its own Makefile in whichever folder.
HIREDIS_MAKE = -f $(SOURCE)src/hiredis/Makefile
HIREDIS_GOALS = $(addsuffix -hiredis,all install uninstall clean)

.PHONY: install-documents uninstall-documents $(HIREDIS_GOALS)
$(HIREDIS_GOALS): %-hiredis: | $(FOLDERS)
	$(MAKE) -C $(CURDIR)/src/hiredis $(HIREDIS_MAKE) $*

uninstall clean: %: %-hiredis
ifeq ($(WITH_HIREDIS),yes)
all install: %: %-hiredis
install-hiredis: all-hiredis
endif

# What Redis executes, as C strings without comments and indentation.
$(LUA_HEADER): $(call files,src/redis/lua/*.lua) | $(FOLDERS)
	for i in $(^F); do \
		echo "#define BF_SCRIPT_$$(basename $$i .lua | tr a-z A-Z) \\" && \
		sed -e 's/^ *//' -e '/^--/d' -e '/^$$/d' -e 's/["\]/\\&/g' -e 's/.*/"&\\n" \\/' $(SOURCE)src/redis/lua/$$i && echo || exit; \
	done >$@

# Unit tests, fuzz targets, and what tests load.
-include $(SOURCE)test/Makefile
