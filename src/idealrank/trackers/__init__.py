"""Results where experiments are kept: MLflow and Weights & Biases."""
