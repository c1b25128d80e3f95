# StopAtFirst.pm
#	perl -MStopAtFirst ends a test where it has failed a check, as script/breaks needs
#	no more of it; what the test has started is ended as otherwise.
package StopAtFirst;

use strict;
use warnings;

use Test2::API qw(test2_add_callback_context_release);

test2_add_callback_context_release(sub { exit 1 unless $_[0]->hub->is_passing; });

1;
