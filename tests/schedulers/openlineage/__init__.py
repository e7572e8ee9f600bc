"""What OpenLineage producers send and what becomes of it; `road` has the real thing behind it, on each database."""
