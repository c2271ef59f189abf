"""Evaluate a graph recommender: PyTorch Geometric's LightGCN on a small bipartite graph.

pip install '.[graph]' && python examples/lightgcn.py

Users like the items of their own group; a fifth of the edges is held out as truth. The model is
trained on the rest and recommends with its own `recommend`. The three means are computed twice:
with tensors, as graph code usually does, and by recframe.
"""

import pandas as pd
import torch
from torch_geometric.nn import LightGCN

import recframe

N_USERS, N_ITEMS, N_GROUPS, K = 60, 40, 4, 5


def make_edges(generator):
    """Return edge indexes of shape (2, n_edges), users and items counted from 0: train, truth."""
    same_group = torch.arange(N_USERS)[:, None] % N_GROUPS == torch.arange(N_ITEMS) % N_GROUPS
    likes = torch.rand(N_USERS, N_ITEMS, generator=generator) < torch.where(same_group, 0.8, 0.05)
    edges = likes.nonzero().T
    draw = torch.rand(edges.shape[1], generator=generator)
    lowest = torch.ones(N_USERS).scatter_reduce(0, edges[0], draw, "amin")
    held_out = (draw < 0.2) | (draw == lowest[edges[0]])  # one of every user at least
    return edges[:, ~held_out], edges[:, held_out]


def train(edges, generator, epochs=100):
    """Return a LightGCN trained on edges, in which the nodes of items follow those of users."""
    user, item = edges
    graph = torch.stack([user, item + N_USERS])
    graph = torch.cat([graph, graph.flip(0)], dim=1)
    model = LightGCN(N_USERS + N_ITEMS, embedding_dim=16, num_layers=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        negative = torch.randint(N_ITEMS, item.shape, generator=generator)
        pairs = torch.stack([user.repeat(2), torch.cat([item, negative]) + N_USERS])
        liked, others = model(graph, pairs).chunk(2)
        loss = model.recommendation_loss(liked, others, node_id=graph.unique())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, graph


def recommend(model, graph, k):
    """Return the k best items of every user, an (n_users, k) matrix, best first."""
    users, items = torch.arange(N_USERS + N_ITEMS).split([N_USERS, N_ITEMS])
    top = model.recommend(graph, src_index=users, dst_index=items, k=k, sorted=True)
    return top - N_USERS


def tensor_means(top, truth):
    """Return the means over users, computed on tensors."""
    is_true = torch.zeros(N_USERS, N_ITEMS, dtype=torch.bool)
    is_true[truth[0], truth[1]] = True
    n_relevant = is_true.sum(dim=1)
    hits = is_true.gather(1, top).double()
    in_first_r = torch.arange(top.shape[1]) < n_relevant[:, None]
    return {
        f"precision@{K}": (hits[:, :K].sum(dim=1) / K).mean().item(),
        f"recall@{K}": (hits[:, :K].sum(dim=1) / n_relevant).mean().item(),
        "r_precision": ((hits * in_first_r).sum(dim=1) / n_relevant).mean().item(),
    }


def frame_means(top, truth):
    """Return the same means by recframe: the matrix and the edges as frames."""
    pairs = pd.DataFrame(truth.T.numpy(), columns=["user", "item"])
    recs = recframe.from_topk(top)
    means = recs.rec(truth=pairs).mean([f"precision@{K}", f"recall@{K}", "r_precision"])
    return means.loc["score"].to_dict()


def main():
    """Train, recommend, evaluate twice and print."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    edges, truth = make_edges(generator)
    model, graph = train(edges, generator)
    max_relevant = int(truth[0].bincount().max())
    top = recommend(model, graph, k=max(K, max_relevant))
    tensors, frames = tensor_means(top, truth), frame_means(top, truth)
    print(f"{'':12} {'tensors':>10} {'recframe':>10}")
    for name, value in tensors.items():
        print(f"{name:12} {value:10.6f} {frames[name]:10.6f}")
    return tensors, frames


if __name__ == "__main__":
    main()
