-- name: settle
select
    set_config('statement_timeout', %(timeout_ms)s, false),
    set_config('default_transaction_read_only', 'on', false),
    set_config('jit', 'off', false);  -- compiling would take longer than the queries

-- name: find_reader
-- The role may exist without its rights, in a database that was created before the role.
select 1
from pg_roles
where rolname = %(name)s
    and has_table_privilege(oid, to_regclass('run')::oid, 'select')
    and pg_has_role(current_user, oid, 'member');

-- name: uncorrected
-- The names of views then refer to those without correction for host interference.
set local search_path = uncorrected, public;
