/*
 * switch.c
 *	  Put keys that were written aside in the place of a filter's, all at once.
 */
#include "postgres.h"

#include "redis/switch.h"

/*
 * KEYS: n temporary keys, n keys of layers, then hash and cursor, if any, then
 * older layers to be removed.  ARGV: n, ttl (0: none), what the cursor is to be
 * ('': there is none), number of the hash's fields, and these with values.
 */
static const char switch_script[] =
	"local c = redis.call\n"
	"local n, ttl, fields = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])\n"
	"local function last(key)\n"
	"  if ttl > 0 then c('PEXPIRE', key, ttl) else c('PERSIST', key) end\n"
	"end\n"
	"for i = 1, n do\n"
	"  if c('EXISTS', KEYS[i]) == 0 then return 0 end\n"
	"end\n"
	"for i = 1, n do\n"
	"  c('RENAME', KEYS[i], KEYS[n + i])\n"
	"  last(KEYS[n + i])\n"
	"end\n"
	"local k = 2 * n + 1\n"
	"if fields > 0 then\n"
	"  c('DEL', KEYS[k])\n"
	"  c('HSET', KEYS[k], unpack(ARGV, 5, 4 + 2 * fields))\n"
	"  last(KEYS[k])\n"
	"  k = k + 1\n"
	"end\n"
	"if ARGV[3] ~= '' then\n"
	"  c('SET', KEYS[k], ARGV[3])\n"
	"  last(KEYS[k])\n"
	"  k = k + 1\n"
	"end\n"
	"for i = k, #KEYS do c('DEL', KEYS[i]) end\n"
	"return 1\n";

static void
append_keys(BfUnit *unit, const BfRemote *remote, char **temporary,
			uint32 layers, uint32 old_layers)
{
	const BfLayout *layout = remote->layout;

	for (uint32 i = 0; i < layers; i++)
		bf_command_text(unit, temporary[i]);
	for (uint32 i = 0; i < layers; i++)
		bf_command_key(unit, bf_remote_layer_key(remote, i));
	if (remote->configured)
		bf_command_key(unit, layout->config_key(remote->key));
	if (layout->cursor_key != NULL)
		bf_command_key(unit, layout->cursor_key(remote->key));
	for (uint32 i = layers; i < old_layers; i++)
		bf_command_key(unit, bf_remote_layer_key(remote, i));
}

/*
 * Rename a temporary key for each layer to what it is to be, and write the
 * hash and the cursor; or, if a temporary key is gone, do nothing and raise.
 */
void
bf_switch(const BfRemote *remote, char **temporary, uint32 old_layers,
		  int64 ttl)
{
	const BfLayout *layout = remote->layout;
	uint32		layers = remote->header.layers;
	int			fields = bf_remote_fields(remote);
	bool		cursor = layout->cursor_key != NULL;
	BfUnit	   *unit = bf_unit_make();

	bf_script_begin(unit, switch_script);
	append_keys(unit, remote, temporary, layers, old_layers);
	bf_script_arguments(unit);
	bf_command_number(unit, layers);
	bf_command_number(unit, ttl);
	bf_command_text(unit, cursor ? psprintf("%u", layers - 1) : "");
	bf_command_number(unit, fields);
	bf_remote_append_fields(unit, remote);
	if (bf_ask_number(remote->server, remote->key, unit) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("mirror of \"%s\" was not finished in time",
						remote->key),
				 errdetail("Its temporary keys are gone; what was there before is still there.")));
}
