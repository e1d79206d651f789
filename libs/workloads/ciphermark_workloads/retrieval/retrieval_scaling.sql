select *, 'retrieval' as experiment from retrieval_scaling
