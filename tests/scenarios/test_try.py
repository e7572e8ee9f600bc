from tests.world.world import World
import time
def test_try(world: World) -> None:
    world.moves_to("00:10")
    world.has_run("revenue")
    t=time.time()
    world.fails("revenue", at="03:12")
    print(world.thread("revenue")); print(world.mentions()); print(world.reasons("revenue"))
    world.passes(minutes=5)
    print(world.reruns())
    world.rerun_starts("revenue")
    world.passes(minutes=12)
    world.rerun_succeeds("revenue")
    print(world.thread("revenue")); print(world.reasons("revenue"))
    print(time.time()-t)
    world.fails("orders", at="03:40")
    print(world.thread("orders")); print(world.mentions()); 
    print(world.clicks("sam","Acknowledge","orders"))
    print(world.clicks("ben","Acknowledge","orders"))
    print(world.clicks("ana","Acknowledge","orders"))
    print(world.clicks("ana","Fixed","orders"))
    print(world.screen("ana"))
    print(world.submits("ana", what="mended"))
    print(world.thread("orders"))
    print(time.time()-t)
    assert 0
