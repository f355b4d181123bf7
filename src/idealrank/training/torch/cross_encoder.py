"""The losses in the `CrossEncoderTrainer` of sentence-transformers."""

from collections.abc import Sequence
from typing import Any

from idealrank.errors import InputError, OptionError
from idealrank.training.torch.tensors import ListLoss, count, torch


class CrossEncoderLoss(torch.nn.Module):
    """A loss over lists for the ``CrossEncoderTrainer`` of sentence-transformers, in the place of
    its own listwise losses.

    The trainer's data are as for its own ``LambdaLoss`` and ``ListNetLoss``: a query, a list of
    documents and a list of labels in each row, of any length. Pairs are encoded from the longest to
    the shortest text, so that a mini-batch holds little padding.

    Parameters
    ----------
    model : sentence_transformers.CrossEncoder
        With one output label.
    loss : ListLoss
        Any loss of this package.
    activation_fn : callable, optional
        Applied to the logits before the loss; default none.
    mini_batch_size : int
        Pairs of query and document in a forward pass.

    Raises
    ------
    OptionError
        The model has more output labels than one, or the loss is none over lists.

    Examples
    --------
    In a training script::

        from sentence_transformers.cross_encoder import CrossEncoder, CrossEncoderTrainer
        from idealrank.training.torch import ApproxNDCGLoss, CrossEncoderLoss

        model = CrossEncoder("microsoft/MiniLM-L12-H384-uncased", num_labels=1)
        loss = CrossEncoderLoss(model, ApproxNDCGLoss(cutoff=10))
        CrossEncoderTrainer(model=model, train_dataset=dataset, loss=loss).train()
    """

    def __init__(
        self, model: Any, loss: ListLoss, *, activation_fn: Any = None, mini_batch_size: int = 32
    ) -> None:
        super().__init__()
        if getattr(model, "num_labels", 1) != 1:
            raise OptionError(
                f"model: found {model.num_labels} output labels, expected 1, a score for a document"
            )
        if not isinstance(loss, ListLoss):
            raise OptionError(
                f"loss: found {type(loss).__name__}, expected a loss of idealrank.training.torch, "
                "such as ApproxNDCGLoss()"
            )
        self.model = model
        self.loss = loss
        self.activation_fn = activation_fn
        self.mini_batch_size = count("mini_batch_size", mini_batch_size)

    def forward(
        self, inputs: Sequence[Any], labels: Any, prompt: str | None = None, task: str | None = None
    ) -> "torch.Tensor":
        """The loss of a batch.

        Parameters
        ----------
        inputs : (queries, documents of each)
        labels : list of tensor
            Labels of the documents of each query.
        prompt, task : str, optional
            For the model's preprocessing.
        """
        if isinstance(labels, torch.Tensor) or len(inputs) != 2:
            raise InputError(
                f"found {len(inputs)} columns and labels of type {type(labels).__name__}, expected "
                "queries, lists of documents"
            )
        queries, lists = inputs
        sizes = [len(documents) for documents in lists]
        if sizes != [len(grades) for grades in labels]:
            raise InputError(
                f"found {sizes} documents and {[len(grades) for grades in labels]} labels, "
                f"expected as many of both a query"
            )
        pairs = [
            (query, document)
            for query, documents in zip(queries, lists, strict=True)
            for document in documents
        ]
        logits = self._logits(pairs, prompt=prompt, task=task)
        label_rows = [torch.as_tensor(part).to(logits.device) for part in labels]
        scores = torch.nn.utils.rnn.pad_sequence(logits.split(sizes), batch_first=True)
        grades = torch.nn.utils.rnn.pad_sequence(label_rows, batch_first=True)
        mask = (
            torch.arange(scores.shape[-1], device=scores.device)
            < torch.tensor(sizes, device=scores.device)[:, None]
        )
        value: torch.Tensor = self.loss(scores, grades, mask)
        return value

    def _logits(self, pairs: list[tuple[str, str]], **options: Any) -> "torch.Tensor":
        def characters(place: int) -> int:
            query, document = pairs[place]
            return len(query) + len(document)

        # Texts of about one length together: the padding of a block costs time.
        order = sorted(range(len(pairs)), key=characters, reverse=True)
        blocks = []
        for first in range(0, len(pairs), self.mini_batch_size):
            tokens = self.model.preprocess(
                [pairs[place] for place in order[first : first + self.mini_batch_size]], **options
            )
            on_device = {
                name: part.to(self.model.device) if isinstance(part, torch.Tensor) else part
                for name, part in tokens.items()
            }
            blocks.append(self.model(on_device)["scores"].view(-1))
        back = torch.tensor(order, device=blocks[0].device).argsort()
        logits = torch.cat(blocks).float()[back]
        return logits if self.activation_fn is None else self.activation_fn(logits)

    def get_config_dict(self) -> dict[str, Any]:
        """Options, for the trainer's model card."""
        return {
            "loss": type(self.loss).__name__,
            **self.loss.options(),
            "mini_batch_size": self.mini_batch_size,
        }
