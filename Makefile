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

WITH_HIREDIS ?= $(shell pkg-config --exists hiredis && echo yes || echo no)

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
EXTRA_CLEAN = $(LUA_HEADER) test/unit/unit test/unit/unit-asan test/fuzz/build test/sanitize/build test/work/build test/nodes/build test/provider/build results

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
DOCUMENTS = $(call files,README.md CHANGELOG.md LICENSE SECURITY.md doc/*.md doc/pictures/*.svg doc/readers/*.md doc/readers/*/*.* bench/*.md)
DOCUMENTS_DIR = $(DESTDIR)$(docdir)/$(docmoduledir)/bloomext
install: install-documents
uninstall: uninstall-documents
.PHONY: install-documents uninstall-documents
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

.PHONY: $(HIREDIS_GOALS)
$(HIREDIS_GOALS): %-hiredis: | $(FOLDERS)
	$(MAKE) -C $(CURDIR)/src/hiredis $(HIREDIS_MAKE) $*

uninstall: uninstall-hiredis
clean distclean: clean-hiredis
ifeq ($(WITH_HIREDIS),yes)
all: all-hiredis
install: install-hiredis
install-hiredis: all-hiredis
endif

# What Redis executes, as C strings without comments and indentation.
$(LUA_HEADER): $(call files,src/redis/lua/*.lua) | $(FOLDERS)
	for i in $(^F); do \
		echo "#define BF_SCRIPT_$$(basename $$i .lua | tr a-z A-Z) \\" && \
		sed -e 's/^ *//' -e '/^--/d' -e '/^$$/d' -e 's/["\]/\\&/g' -e 's/.*/"&\\n" \\/' $(SOURCE)src/redis/lua/$$i && echo || exit; \
	done >$@

$(CURDIR)/test/vectors:
	@mkdir -p $(@D)
	ln -s $(SOURCE)test/vectors $@

# What calls aggregates as another one does, for sql/agg_nodes.sql.
$(CURDIR)/test/nodes/build/nodes.so: $(SOURCE)test/nodes/nodes.c
# What puts its own paths next to a gate's, for test/t/gate/other_scans.pl.
$(CURDIR)/test/provider/build/provider.so: $(SOURCE)test/provider/provider.c
$(TEST_MODULES):
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_SL) $(CPPFLAGS) -shared -o $@ $< $(LDFLAGS)

# What needs no server: core/ and strategy/ as they are, and most of advise/.
FREE_SOURCES = $(filter-out %/advise.c,$(wildcard src/core/*.c src/strategy/*.c src/advise/*.c))

UNIT_SOURCES = $(FREE_SOURCES) $(wildcard test/unit/*.c)
UNIT_HEADERS = $(wildcard test/unit/*.h)
UNIT_OPTIMIZED = -O2
UNIT_FLAGS = -std=gnu99 -g $(UNIT_OPTIMIZED) -Wall -Wextra -Werror $(EXACTLY) -Isrc

test/unit/unit: $(UNIT_SOURCES) $(UNIT_HEADERS) $(PRIVATE_HEADERS)
	$(CC) $(UNIT_FLAGS) -o $@ $(UNIT_SOURCES) -lm

test/unit/unit-asan: $(UNIT_SOURCES) $(UNIT_HEADERS) $(PRIVATE_HEADERS)
	$(CC) $(UNIT_FLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ $(UNIT_SOURCES) -lm

.PHONY: unitcheck
unitcheck: test/unit/unit test/unit/unit-asan
	test/unit/unit test/vectors
	test/unit/unit-asan test/vectors

# The module that counts its work, for test/t/type/interrupts.pl.
WORK_DIR = test/work/build
WORK_FLAGS = -O1 -fno-lto -fsanitize-coverage=trace-pc

$(WORK_DIR)/bloomext.so: $(OBJS:src/%=$(WORK_DIR)/%) $(WORK_DIR)/count.o
	$(CC) $(CFLAGS) -shared -o $@ $^ $(LDFLAGS) $(SHLIB_LINK)

$(WORK_DIR)/%.o: src/%.c $(PRIVATE_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) $(WORK_FLAGS) -c -o $@ $<

$(WORK_DIR)/%.o: test/work/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<

# The fuzz targets: what needs no server alone, or type/ and redis/ with as much of
# a server as test/fuzz/server.c is.  They want clang and its runtime; see test/fuzz/run.
FUZZ_CC = $(eval FUZZ_CC := $(shell test/fuzz/compiler))$(FUZZ_CC)
FUZZ_INSTRUMENT = -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_SECONDS = 15
FUZZ_DIR = test/fuzz/build
FUZZ_CORE = $(FREE_SOURCES:src/%.c=$(FUZZ_DIR)/%.o) $(FUZZ_DIR)/fuzz.o $(FUZZ_DIR)/hashes.o
FUZZ_TARGETS = $(addprefix $(FUZZ_DIR)/fuzz-,value partial guava redisbloom spark bitsandblooms bits sizing text exchange aggregate element options live)
ifeq ($(WITH_HIREDIS),yes)
FUZZ_TARGETS += $(FUZZ_DIR)/fuzz-redis
endif
FUZZ_FLAGS = -std=gnu99 -g -O1 -Wall -Wextra -Werror $(EXACTLY) -fno-omit-frame-pointer -Isrc -Itest/unit \
	$(FUZZ_INSTRUMENT)

FUZZ_STREAMS = $(addprefix $(FUZZ_DIR)/fuzz-,guava redisbloom spark bitsandblooms)
$(FUZZ_STREAMS): $(FUZZ_DIR)/fuzz-%: test/fuzz/stream.c $(FUZZ_CORE)
	$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -DSTREAM='"$*"' -o $@ $^ -lm

# What these two never call, the linker leaves out with all that it refers to.
FUZZ_TEXT = $(addprefix $(FUZZ_DIR)/,server.o type/io.o type/notation.o type/arguments.o type/value.o type/shard.o)
FUZZ_exchange = type/exchange.o type/info.o type/merge.o type/toast_slices.o
FUZZ_aggregate = $(addprefix type/,add.o element_type.o info.o merge.o toast_slices.o) $(addprefix agg/,agg_merge.o agg_sized.o hashlist.o overfull.o)
FUZZ_element = type/element_type.o type/element_hash.o type/text.o
FUZZ_options = redis/options.o redis/hosts.o
FUZZ_live = $(patsubst src/%.c,%.o,$(wildcard src/pages/*.c)) $(addprefix index/,lookup.o maintenance.o snapshot.o) \
	$(addprefix type/,element_type.o element_hash.o merge.o toast_slices.o text.o)
FUZZ_REDIS = $(patsubst src/%,$(FUZZ_DIR)/%,$(filter-out %/options.o %/hosts.o,$(filter src/redis/%,$(OBJS)))) \
	$(addprefix $(FUZZ_DIR)/,hiredis/link.o hiredis/reply.o type/element_type.o type/element_hash.o type/text.o)
FUZZ_WRAPPED = redisConnectNonBlock redisBufferRead send recv getsockopt
FUZZ_SERVER_FLAGS = -fwrapv -fno-strict-aliasing -ffunction-sections -fdata-sections \
	-Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers \
	$(shell pkg-config --cflags hiredis) -D_GNU_SOURCE -isystem $(shell $(PG_CONFIG) --includedir-server)
FUZZ_SERVER_LIBS = -Wl,--gc-sections,-z,start-stop-gc -Wl,--wrap=pg_utf8_islegal \
	-L$(shell $(PG_CONFIG) --pkglibdir) -L$(shell $(PG_CONFIG) --libdir) -lpgcommon -lpgport -lm

$(FUZZ_DIR)/fuzz-text: test/fuzz/text.c $(FUZZ_TEXT) $(FUZZ_CORE)
	$(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_SERVER_FLAGS) -fsanitize=fuzzer -o $@ $^ $(FUZZ_SERVER_LIBS)

FUZZ_SERVED = $(addprefix $(FUZZ_DIR)/fuzz-,exchange aggregate element options live)
.SECONDEXPANSION:
$(FUZZ_SERVED): $(FUZZ_DIR)/fuzz-%: test/fuzz/%.c $$(addprefix $(FUZZ_DIR)/,$$(FUZZ_$$*)) $(FUZZ_TEXT) $(FUZZ_CORE)
	$(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_SERVER_FLAGS) -fsanitize=fuzzer -o $@ $^ $(FUZZ_SERVER_LIBS)

$(FUZZ_DIR)/fuzz-redis: test/fuzz/redis.c $(FUZZ_REDIS) $(FUZZ_TEXT) $(FUZZ_CORE)
	$(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_SERVER_FLAGS) -fsanitize=fuzzer -o $@ $^ $(FUZZ_WRAPPED:%=-Wl,--wrap=%) $(shell pkg-config --libs hiredis) $(FUZZ_SERVER_LIBS)

$(foreach i,type agg pages index redis hiredis,$(FUZZ_DIR)/$(i)/%.o) $(FUZZ_DIR)/server.o: FUZZ_FLAGS += $(FUZZ_SERVER_FLAGS)

$(FUZZ_DIR)/fuzz-%: test/fuzz/%.c $(FUZZ_CORE)
	$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -lm

$(FUZZ_DIR)/%.o: src/%.c $(PRIVATE_HEADERS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<

$(FUZZ_DIR)/%.o: test/unit/%.c $(UNIT_HEADERS) $(PRIVATE_HEADERS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -c -o $@ $<

$(FUZZ_DIR)/%.o: test/fuzz/%.c $(wildcard test/fuzz/*.h) $(PRIVATE_HEADERS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -c -o $@ $<

.PHONY: fuzz fuzzcheck fuzzcover fuzz-targets
fuzz: $(FUZZ_TARGETS)
fuzzcheck: fuzz
	test/fuzz/run $(FUZZ_SECONDS) $(FUZZ_TARGETS)
fuzz-targets:
	@echo $(FUZZ_TARGETS)

# What of the code they reach, by the same targets with counters in their place.
fuzzcover:
	$(MAKE) fuzz FUZZ_DIR=$(FUZZ_DIR)/coverage FUZZ_INSTRUMENT='-fprofile-instr-generate -fcoverage-mapping'
	test/fuzz/coverage "$$(dirname "$$(readlink -f "$$(command -v $(FUZZ_CC))")")" $(FUZZ_TARGETS:$(FUZZ_DIR)/%=$(FUZZ_DIR)/coverage/%)

# The modules with sanitizers, of which one loads the other, and allocations that have
# an exact end, for test/perl/SanitizedServer.pm and script/test; test/sanitize/guard.c
# says how.  Without SANITIZERS they are for valgrind.
SANITIZE_DIR = test/sanitize/build
SANITIZE_HIREDIS = $(abspath $(SANITIZE_DIR))/hiredis/bloomext_hiredis
SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=undefined
SANITIZE_FLAGS = -O1 -g -U_FORTIFY_SOURCE $(SANITIZERS) -fno-omit-frame-pointer
SANITIZE_WRAPPED = palloc palloc0 palloc_extended repalloc repalloc_huge pstrdup pnstrdup \
	MemoryContextAlloc MemoryContextAllocZero MemoryContextAllocZeroAligned \
	MemoryContextAllocExtended MemoryContextAllocHuge \
	pg_detoast_datum pg_detoast_datum_copy pg_detoast_datum_packed pg_detoast_datum_slice \
	XLogRegisterBufData log_newpage_buffer

$(SANITIZE_DIR)/bloomext.so: $(OBJS:src/%=$(SANITIZE_DIR)/%) $(SANITIZE_DIR)/guard.o
	$(CC) $(CFLAGS) $(SANITIZE_FLAGS) -shared -o $@ $^ $(LDFLAGS) $(SHLIB_LINK) $(SANITIZE_WRAPPED:%=-Wl,--wrap=%)

$(SANITIZE_DIR)/redis/transport.o: SANITIZE_FLAGS += -DBF_TRANSPORT_LIBRARY='"$(SANITIZE_HIREDIS)"'

# Without the package's -D_FORTIFY_SOURCE, whose functions the sanitizer does not know.
.PHONY: sanitize-hiredis
sanitize-hiredis:
	@mkdir -p $(SANITIZE_DIR)/hiredis
	$(MAKE) -C $(SANITIZE_DIR)/hiredis $(HIREDIS_MAKE) CPPFLAGS=-D_GNU_SOURCE PROFILE='$(SANITIZE_FLAGS)' all
ifeq ($(WITH_HIREDIS),yes)
$(SANITIZE_DIR)/bloomext.so: | sanitize-hiredis
endif

$(SANITIZE_DIR)/quiet.so: test/sanitize/quiet.c
	@mkdir -p $(@D)
	$(CC) -Wall -Wextra -Werror -fno-builtin -fPIC -shared -o $@ $<

$(SANITIZE_DIR)/%.o: src/%.c $(PRIVATE_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) $(SANITIZE_FLAGS) -c -o $@ $<

$(SANITIZE_DIR)/%.o: test/sanitize/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) $(SANITIZE_FLAGS) -c -o $@ $<
