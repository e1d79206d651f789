-- name: has_runs
select exists (select from run where not is_shipped);

-- name: clear
drop schema if exists uncorrected cascade;
drop schema if exists queue cascade;
drop schema public cascade;
create schema public authorization pg_database_owner;

-- name: grant
do $$
declare
    name text;
begin
    if exists (select from pg_roles where rolname = 'ciphermark_reader') then
        foreach name in array array['public', 'uncorrected'] loop
            execute format('grant usage on schema %I to ciphermark_reader', name);
            execute format('grant select on all tables in schema %I to ciphermark_reader', name);
            execute format('alter default privileges in schema %I grant select on tables to ciphermark_reader', name);
        end loop;
    end if;
end
$$;
