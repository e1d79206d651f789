"""Storage: migrations, views, named queries and a thin gateway to PostgreSQL."""
