/*
 * cluster.c
 *	  The connection that commands about a key are sent to.
 *
 * Without a cluster, a server has one connection.  In a cluster (option
 * "cluster"), the connection is that of the node that serves the key's slot:
 * CRC16 of the part in braces, or else of the whole key, modulo 16384.  The
 * node of a slot is learnt from MOVED.  It is forgotten when the node cannot
 * be reached, or when a server or account has changed since.  Commands for a
 * slot whose node is not known go to the hosts in the server's options: the
 * first of these that can be reached redirects them.
 *
 * Behind sentinels there is one connection, to the master.  Sentinels are
 * queried again now and then, when the error READONLY shows that the old
 * master is a replica now, and when NOREPLICAS shows that its replicas may
 * have left it.
 *
 * Redirections are followed only if the server has option "cluster".
 * Otherwise any server could send us, and the password of the account,
 * wherever it likes.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/hsearch.h"

#include "redis/redis_errors.h"
#include "redis/connection.h"

#define SLOTS	16384

/* A slot of a cluster, for a user. */
typedef struct SlotKey
{
	Oid			server;
	Oid			user;
	uint32		slot;
} SlotKey;

typedef struct Slot
{
	SlotKey		key;
	BfNode		node;
} Slot;

static HTAB *slots = NULL;

/* CRC16 as in XMODEM: polynomial 0x1021, not reflected. */
static unsigned
crc16(const char *bytes, size_t length)
{
	unsigned	crc = 0;

	for (size_t i = 0; i < length; i++)
	{
		crc ^= (unsigned) (unsigned char) bytes[i] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
		crc &= 0xffff;
	}
	return crc;
}

/* The part of a key that is hashed: between its first braces, if not empty. */
static const char *
hash_tag(const char *key, size_t *length)
{
	const char *open = strchr(key, '{');
	const char *close = open ? strchr(open, '}') : NULL;

	if (close == NULL || close == open + 1)
		return NULL;
	*length = close - open - 1;
	return open + 1;
}

/* The slot of a key. */
unsigned
bf_cluster_slot(const char *key)
{
	size_t		length = strlen(key);
	const char *tag = hash_tag(key, &length);

	return crc16(tag ? tag : key, length) % SLOTS;
}

/* Find, enter or remove what is known of a key's slot. */
static Slot *
key_slot(Oid server, const char *key, HASHACTION action)
{
	SlotKey		id = {server, GetUserId(), bf_cluster_slot(key)};
	HASHCTL		control = {
		.keysize = sizeof(SlotKey),
		.entrysize = sizeof(Slot)
	};

	if (slots == NULL)
		slots = hash_create("bloomext Redis cluster slots", 64, &control,
							HASH_ELEM | HASH_BLOBS);
	return hash_search(slots, &id, action, NULL);
}

/*
 * The connection for commands about a key.  A known node is forgotten if it
 * cannot be reached, or may have changed; then the server's own hosts are
 * used.
 */
BfConnection *
bf_cluster_route(Oid server, const char *key)
{
	Slot	   *slot = key_slot(server, key, HASH_FIND);
	BfNode		node;
	BfConnection *connection;

	if (slot == NULL)
		return bf_connection_open(server, NULL);

	/* Forgotten even if an error is raised. */
	node = slot->node;
	(void) key_slot(server, key, HASH_REMOVE);
	connection = bf_connection_try(server, &node);
	if (connection == NULL)
		return bf_connection_open(server, NULL);
	key_slot(server, key, HASH_ENTER)->node = node;
	return connection;
}

/*
 * Parse the node in "MOVED 3999 127.0.0.1:6381"; an omitted host is that of
 * the sender.
 */
static bool
parse_node(const BfConnection *connection, const char *error, BfNode *node)
{
	const char *at = strrchr(error, ' ');
	const char *colon = at ? strrchr(at, ':') : NULL;
	int			port = colon ? atoi(colon + 1) : 0;

	if (port < 1 || port > 65535 || colon - at > BF_HOST_SIZE || at[1] == '?')
		return false;
	if (colon == at + 1)
		strlcpy(node->host, connection->socket.host, BF_HOST_SIZE);
	else
		strlcpy(node->host, at + 1, colon - at);
	node->port = port;
	node->changes = connection->changes;
	return true;
}

/*
 * Where an error says that a command on a key must be sent instead; for
 * BF_REDIRECT_MOVED and BF_REDIRECT_ASK, *node is set.  Remembers the new node
 * of a slot, and that a connection no longer leads to the master.
 */
BfRedirect
bf_cluster_redirect(BfConnection *connection, const char *error,
					const char *key, BfNode *node)
{
	if (bf_connection_is_doubtful(connection, error))
		return BF_REDIRECT_MASTER;
	if (!connection->cluster)
		return BF_REDIRECT_NONE;
	if (strncmp(error, "TRYAGAIN ", 9) == 0)
		return BF_REDIRECT_DIVIDE;
	if (strncmp(error, "CLUSTERDOWN ", 12) == 0)
		return BF_REDIRECT_WAIT;
	if (strncmp(error, "MOVED ", 6) == 0 &&
		parse_node(connection, error, node))
	{
		key_slot(connection->key.server, key, HASH_ENTER)->node = *node;
		return BF_REDIRECT_MOVED;
	}
	if (strncmp(error, "ASK ", 4) == 0 && parse_node(connection, error, node))
		return BF_REDIRECT_ASK;
	return BF_REDIRECT_NONE;
}
