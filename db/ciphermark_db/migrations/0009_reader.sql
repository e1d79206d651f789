-- The role of those who only read: the dashboard takes it on. Where the server does not let us have it, reading goes on
-- without: in read-only transactions, under the rights of whoever connects.
do $$
begin
    if not exists (select from pg_roles where rolname = 'ciphermark_reader') then
        create role ciphermark_reader;
        execute format('grant ciphermark_reader to %I', current_user);
    end if;
exception
    when insufficient_privilege or duplicate_object or unique_violation then null;
end
$$;

do $$
begin
    if exists (select from pg_roles where rolname = 'ciphermark_reader') then
        grant usage on schema public to ciphermark_reader;
        grant select on all tables in schema public to ciphermark_reader;
        alter default privileges in schema public grant select on tables to ciphermark_reader;
    end if;
end
$$;
