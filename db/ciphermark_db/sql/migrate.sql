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
values ({{version}}, '{{name}}', '{{checksum}}');

-- name: published_checksums
select distinct checksum from published;

-- name: forget_published
delete from published;

-- name: record_published
insert into published (
    id, source, year, system, host, scheme, result, metric, unit, value, stated, note, variant, experiment, operation,
    phase, ring_dimension, repetitions, data_set, threads, level, security, provenance, checksum
) values (
    %(id)s, %(source)s, %(year)s, %(system)s, %(host)s, %(scheme)s, %(result)s, %(metric)s, %(unit)s, %(value)s,
    %(stated)s, %(note)s, %(variant)s, %(experiment)s, %(operation)s, %(phase)s, %(ring_dimension)s, %(repetitions)s,
    %(data_set)s, %(threads)s, %(level)s, %(security)s, %(provenance)s, %(checksum)s
);
