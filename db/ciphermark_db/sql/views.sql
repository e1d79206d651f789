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
