module bloomext/reader

go 1.19

require (
	github.com/cespare/xxhash/v2 v2.2.0
	github.com/redis/go-redis/v9 v9.7.3
	github.com/twmb/murmur3 v1.1.8
)

require github.com/dgryski/go-rendezvous v0.0.0-20200823014737-9f7001d12a5f // indirect
