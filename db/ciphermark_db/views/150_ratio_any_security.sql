create view ratio_any_security as select * from ratios(true);

-- The columns mean the same in both views, but for those that are about the level.
do $$
declare
    name text;
    description text;
begin
    for name, description in
        select attname, col_description(attrelid, attnum)
        from pg_attribute where attrelid = 'ratio'::regclass and attnum > 0
    loop
        execute format('comment on column ratio_any_security.%I is %L', name, description);
    end loop;
end
$$;
comment on view ratio_any_security is
    'As ratio, but across security levels: a ratio with is_equal_security false compares unlike things';
comment on column ratio_any_security.fastest_variant is
    'Variant with the lowest median time, whatever its security; its own row has ratio 1';
comment on column ratio_any_security.is_equal_security is
    'Whether this variant and the fastest have the same security_2018; where false the ratio compares unlike things';
comment on column ratio_any_security.rank is 'Place by median time, whatever the security; 1 for the fastest';
