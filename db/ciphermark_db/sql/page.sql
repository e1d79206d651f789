-- name: views
select v.name, obj_description(c.oid, 'pg_class') as meaning, array_agg(a.attname::text order by a.attnum) as columns
from view_file as v
join pg_class as c on c.oid = to_regclass(v.name)
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
where c.relkind = 'v' and obj_description(c.oid, 'pg_class') not like 'Internal:%%'
group by v.position, v.name, c.oid
order by v.position;

-- name: columns
-- What has one name has one type and one meaning in all views: a row for each name.
select distinct a.attname::text as name, format_type(a.atttypid, null) as type, col_description(c.oid, a.attnum) as meaning
from view_file as v
join pg_class as c on c.oid = to_regclass(v.name)
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
where c.relkind = 'v' and obj_description(c.oid, 'pg_class') not like 'Internal:%%'
order by name;

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
