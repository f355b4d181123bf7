"""The chance of relevance along a list, ybar, from data: estimators, how sure they are, and what
they imply for NDCG.
"""
