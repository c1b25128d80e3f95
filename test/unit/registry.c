/*
 * registry.c
 *	  Strategies, streams and funnels by id and by name.
 */
#include "strategy/strategy.h"
#include "vectors.h"

void
test_registry(void)
{
	BfFunnel	funnel = BF_FUNNEL_UNBOUND;

	CHECK(bf_strategy_by_name("guava") == &bf_guava, "guava");
	CHECK(bf_strategy_by_name("guava32") == &bf_guava32, "guava32");
	CHECK(bf_strategy_by_name("Guava") == NULL, "Guava");
	CHECK(bf_strategy_by_name("") == NULL, "no name");
	CHECK(bf_stream_by_name("redis") == NULL, "redis is no stream");
	for (int id = 0; id < 256; id++)
	{
		const BfStrategy *strategy = bf_strategy_by_id(id);

		CHECK(strategy == NULL || strategy->id == id, "strategy %d", id);
	}
	for (size_t i = 0; bf_strategy_at(i) != NULL; i++)
		CHECK(bf_strategy_by_id(bf_strategy_at(i)->id) == bf_strategy_at(i),
			  "strategy at %zu", i);
	for (int i = BF_FUNNEL_UNBOUND + 1; i <= BF_FUNNEL_LAST; i++)
		CHECK(bf_funnel_by_name(bf_funnel_name((BfFunnel) i), &funnel) &&
			  funnel == (BfFunnel) i, "funnel %d", i);
	CHECK(!bf_funnel_by_name("utf-8", &funnel), "funnel utf-8");
	CHECK(!bf_funnel_by_name("", &funnel), "no funnel");
}
