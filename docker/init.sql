-- init.sql
--	What compose.yaml has PostgreSQL run when its database is made: the extension, and
--	the Redis of the other container as server "cache".
CREATE EXTENSION bloomext;
CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host 'redis');
CREATE USER MAPPING FOR CURRENT_USER SERVER cache;
