-- name: lock
select pg_advisory_lock(7267101930);

-- name: unlock
select pg_advisory_unlock(7267101930);

-- name: create_schema_migration
create table if not exists schema_migration (
    version integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default now()
);

-- name: applied
select version, checksum from schema_migration;

-- name: record_migration
insert into schema_migration (version, name, checksum)
values (%(version)s, %(name)s, %(checksum)s);
