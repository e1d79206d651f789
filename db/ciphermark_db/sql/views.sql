-- name: is_there
select to_regclass('view_file') is not null;

-- name: made
select position, name, kind, checksum from view_file order by position;

-- name: drop
do $$
declare
    made record;
begin
    for made in select kind, name from view_file order by position desc loop
        execute format('drop %s %I', made.kind, made.name);
    end loop;
    delete from view_file;
end
$$;

-- name: record
insert into view_file (position, name, kind, checksum) values (%s, %s, %s, %s);

-- name: comments
-- One statement per column of a view.
select format('comment on column %%I.%%I is %%L', c.relname, a.attname, described.meaning)
from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
join unnest(%(names)s::text[], %(meanings)s::text[]) as described (name, meaning) on described.name = a.attname
where c.relname = any (%(views)s) and c.relnamespace = 'public'::regnamespace;
