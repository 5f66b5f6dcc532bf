"""The page's part of the vocabulary: what it is given, what it sends back. It decides nothing."""

from __future__ import annotations

from typing import Any

import traitlets

from helpers.show.delivered import Delivered, module, style


class VocabularyWidget(Delivered):
    """The table on the page. `texts`, `marks` and `good` have one value for each entry without an example, by its id.

    `marks`, `good`, `status` and the cells of `entries` are HTML that the functions of helpers.show.markup made.
    """

    _esm = module("vocabulary")
    _css = style("vocabulary")

    entries: traitlets.List[Any] = traitlets.List().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    texts = traitlets.Dict().tag(sync=True)
    marks = traitlets.Dict().tag(sync=True)
    good = traitlets.Dict().tag(sync=True)
    status = traitlets.Unicode().tag(sync=True)
