module bloomext/roundtrip

go 1.16

require github.com/bits-and-blooms/bloom/v3 v3.7.1
