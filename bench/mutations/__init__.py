"""Do the tests find a fault that somebody puts into the product?

- ``faults``: which faults there are in a tree, a draw of them by a seed, and how one is planted
- ``planted``: goes into the tree that is tested: turns a fault on, and notes which test reaches it

    python -m bench.mutations draw --seed 33
    python -m bench.mutations record CHECKOUT      # a throwaway checkout with its own .venv
    python -m bench.mutations run CHECKOUT
    python -m bench.mutations compare BEFORE AFTER

``drawn.json`` holds the 60 faults that the suite is held to. Three of them change nothing that a
caller could see, and are missed: 34 (no column's name needs quotes), 46 (the same attributes by
another loop), 50 (a brace never closes at a text's first character).
"""
