#!/bin/bash
# Runs as root at each start of the notebook instance, which gives it five minutes: the packages are installed behind it.
set -eu

sudo -u ec2-user -i bash <<'SETUP'
set -eu
mkdir -p ~/SageMaker/recipes ~/wheels
cat > ~/graph_notebook_config.json <<'CONFIGURATION'
${configuration}
CONFIGURATION
aws s3 sync --region ${region} ${notebooks}/ ~/SageMaker/recipes/
cat > ~/install.sh <<'INSTALL'
set -eu
aws s3 sync --region ${region} ${wheels}/ ~/wheels/
python3 -m venv ~/SageMaker/.graph
~/SageMaker/.graph/bin/pip install --no-index --find-links ~/wheels "graph-notebook==${version}"
~/SageMaker/.graph/bin/python -m ipykernel install --user --name graph --display-name "Graph (Neptune)"
INSTALL
nohup bash ~/install.sh > ~/SageMaker/install.log 2>&1 &
SETUP
