# Figures as files, with their captions.
idealrank evaluate examples/pydocs/qrels.txt examples/pydocs/bm25.run --measure RR --figures figures
ls figures/cutoffs-RR.svg figures/cutoffs-RR.png figures/cutoffs-RR.pdf figures/figures.md
