-- Results without a match of the run have nothing but what the source says.
select
    i.*,
    p.id,
    p.stated
from published as p
left join published_match as m on m.published_id = p.id and m.run_id = %(run_id)s
cross join lateral jsonb_populate_record(
    m,
    jsonb_build_object(
        'run_id', %(run_id)s::text,
        'source', p.source,
        'year', p.year,
        'system', p.system,
        'published_host', p.host,
        'scheme', p.scheme,
        'result', p.result,
        'metric', p.metric,
        'experiment', p.experiment,
        'unit', p.unit,
        'published_value', p.value,
        'published_threads', p.threads,
        'published_security', p.security,
        'provenance', p.provenance,
        'note', p.note
    )
) as i
