-- Runs that continue another one on a further host have no names of their own but their ids.
create function run_named(asked text) returns setof text
language sql stable
begin atomic
    (
        select r.id
        from run as r
        where
            coalesce(nullif(asked, ''), 'last') ~ '^last(:[^~]+)?(~[0-9]{1,6})?$'
            and r.continues is null
            and coalesce(r.suite = substring(asked from '^last:([^~]+)'), true)
        order by r.is_imported, r.started_at desc, r.id
        limit 1
        offset coalesce(substring(asked from '~([0-9]+)$')::integer, 0)
    )
    union all
    (
        select named.id
        from (
            select
                r.id,
                case when r.id = asked then 0 when r.label = asked then 1 else 2 end as rank,
                row_number() over (order by r.id = asked desc, r.label is not distinct from asked desc, r.started_at desc, r.id)
                    as position,
                min(case when r.id = asked then 0 when r.label = asked then 1 else 2 end) over () as best
            from run as r
            where
                coalesce(nullif(asked, ''), 'last') !~ '^last(:[^~]+)?(~[0-9]{1,6})?$'
                and (starts_with(r.id, asked) or r.label = asked)
        ) as named
        where named.rank = named.best and named.position <= case named.best when 2 then 2 else 1 end
        order by named.position
    );
end;

comment on function run_named(text) is
    'The run that a text means: an id or the beginning of one, a label (the latest run of it), last, last~1 (the one before), '
    'last:SUITE; two runs where the beginning is that of several; none where it means none. Runs from archives come last';
