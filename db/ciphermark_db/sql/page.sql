-- name: columns
-- One row per column of a view, with the comment of the view.
select
    v.name,
    obj_description(c.oid, 'pg_class') as meaning,
    a.attname::text as column,
    format_type(a.atttypid, null) as type,
    col_description(c.oid, a.attnum) as of_column
from view_file as v
join pg_class as c on c.oid = to_regclass(v.name)
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
where c.relkind = 'v' and obj_description(c.oid, 'pg_class') not like 'Internal:%%'
order by v.position, a.attnum;

-- name: tables
select
    c.relname::text as name,
    obj_description(c.oid, 'pg_class') as meaning,
    a.attname::text as column,
    format_type(a.atttypid, null) as type,
    col_description(c.oid, a.attnum) as of_column
from unnest(%(tables)s::text[]) with ordinality as asked (name, position)
join pg_class as c on c.oid = to_regclass(asked.name)
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
order by asked.position, a.attnum;
