-- What was recorded as SEAL's compiler and flags was those of its adapter; SEAL's own were not recorded.
update build
set
    facts = facts || jsonb_build_object(
        'compiler of the adapter', facts -> 'compiler',
        'flags of the adapter', facts -> 'flags',
        'compiler', 'not known: it was not recorded',
        'flags', 'not known: they were not recorded'
    )
where library = 'SEAL' and facts ? 'compiler' and facts ? 'flags' and not facts ? 'flags of the adapter';
