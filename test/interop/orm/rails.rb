# Active Record as a Rails application has it: migrate, or run a program.
require "active_record"

ActiveRecord::Base.establish_connection(ENV["DATABASE_URL"])
if ARGV == ["migrate"]
  ActiveRecord::Migrator.migrations_paths = ["db/migrate"]
  pool = ActiveRecord::Base.connection_pool
  (pool.respond_to?(:migration_context) ? pool : ActiveRecord::Base.connection).migration_context.migrate
else
  require "./models"
  load "./#{ARGV[0]}"
end
