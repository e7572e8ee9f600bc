"""The product put together for tests: everything real but the schedulers, and a clock that is moved by hand."""
