-- name: find_role
select 1 from pg_roles where rolname = 'ciphermark';

-- name: create_role
create role ciphermark login;

-- name: find_database
select 1 from pg_database where datname = 'ciphermark';

-- name: create_database
create database ciphermark owner ciphermark;

-- name: find_reader
select 1 from pg_roles where rolname = 'ciphermark_reader';

-- name: create_reader
create role ciphermark_reader role ciphermark;
