/*
 * reply.c
 *	  Make replies while hiredis parses.
 *
 * The size of a reply is bounded before it takes memory: the elements of all
 * its arrays are counted together, and so are the objects made for them.  No
 * object is made for a bit (an integer 0 or 1 in an array), which makes
 * lookups and additions faster by a tenth.  An object is one chunk from
 * malloc, not palloc: when memory runs out we must return NULL to hiredis,
 * not raise an error through its stack frames.
 */
#include "postgres.h"

#include "hiredis/link.h"

/*
 * More elements, and more objects, than any reply that we request has: they
 * take some 2 MB and 4 MB.
 */
#define MAX_ELEMENTS	(256 * 1024)
#define MAX_OBJECTS		65536

static BfReply bits[] = {
	{.type = BF_REPLY_INTEGER,.integer = 0},
	{.type = BF_REPLY_INTEGER,.integer = 1}
};

/* Store an element in its array, if it has one. */
static BfReply *
put_element(const redisReadTask *task, BfReply *reply)
{
	BfReply    *array = task->parent ? task->parent->obj : NULL;

	if (array != NULL)
		array->element[task->idx] = reply;
	return reply;
}

/* The type of a reply that is not nil; for a nil, task->type is another. */
static BfReplyType
reply_type(const redisReadTask *task)
{
	switch (task->type)
	{
		case REDIS_REPLY_STRING:
			return BF_REPLY_STRING;
		case REDIS_REPLY_ARRAY:
			return BF_REPLY_ARRAY;
		case REDIS_REPLY_INTEGER:
			return BF_REPLY_INTEGER;
		case REDIS_REPLY_STATUS:
			return BF_REPLY_STATUS;
		case REDIS_REPLY_ERROR:
			return BF_REPLY_ERROR;
		default:
			return BF_REPLY_OTHER;
	}
}

/* Make a reply with additional room; NULL if there are too many. */
static BfReply *
make_reply(const redisReadTask *task, BfReplyType type, size_t room)
{
	BfHiredis  *hiredis = task->privdata;
	BfReply    *reply;

	if (++hiredis->objects > MAX_OBJECTS ||
		(reply = malloc(sizeof(BfReply) + room)) == NULL)
		return NULL;
	*reply = (BfReply) {.type = type};
	return put_element(task, reply);
}

/* Make an array. */
static void *
create_array(const redisReadTask *task, compat_reply_count elements)
{
	BfHiredis  *hiredis = task->privdata;
	BfReply    *reply;

	/* Arrays of arrays at most: that bounds the recursion that frees them. */
	if (elements > MAX_ELEMENTS ||
		(task->parent != NULL && task->parent->parent != NULL &&
		 task->parent->parent->parent != NULL))
		return NULL;
	hiredis->elements += elements;
	if (hiredis->elements > MAX_ELEMENTS ||
		(reply = make_reply(task, reply_type(task),
							elements * sizeof(BfReply *))) == NULL)
		return NULL;
	reply->elements = elements;
	reply->element = (BfReply **) (reply + 1);
	memset(reply->element, 0, elements * sizeof(BfReply *));
	return reply;
}

/* Make a string, a status or an error. */
static void *
create_string(const redisReadTask *task, char *bytes, size_t length)
{
	BfReply    *reply = make_reply(task, reply_type(task), length + 1);

	if (reply == NULL)
		return NULL;
	reply->len = length;
	reply->str = (char *) (reply + 1);
	memcpy(reply->str, bytes, length);
	reply->str[length] = '\0';
	return reply;
}

/* Make a nil. */
static void *
create_nil(const redisReadTask *task)
{
	return make_reply(task, BF_REPLY_NIL, 0);
}

/* Make an integer, unless it is a bit in an array. */
static void *
create_integer(const redisReadTask *task, long long value)
{
	BfReply    *reply;

	if (task->parent != NULL && (value == 0 || value == 1))
		return put_element(task, &bits[value]);
	reply = make_reply(task, reply_type(task), 0);
	if (reply != NULL)
		reply->integer = value;
	return reply;
}

/* Free a reply, but not our constant bits. */
static void
free_object(void *object)
{
	BfReply    *reply = object;

	if (reply == NULL || reply == &bits[0] || reply == &bits[1])
		return;
	for (size_t i = 0; i < reply->elements; i++)
		free_object(reply->element[i]);
	free(reply);
}

void
bf_reply_free(BfReply *reply)
{
	free_object(reply);
}

/* Let a link's replies be made here. */
void
bf_reply_make_by(BfHiredis *hiredis)
{
	static redisReplyObjectFunctions functions = {
		.createString = create_string,
		.createArray = create_array,
		.createInteger = create_integer,
		.createNil = create_nil,
		.freeObject = free_object,
		COMPAT_REFUSE_RESP3
	};
	redisReader *reader = hiredis->context->reader;

	reader->fn = &functions;
	reader->privdata = hiredis;
}
