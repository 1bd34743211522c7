#!/bin/sh
# SkyRL with FSDP and vLLM on one machine of 8 GPUs, behind the Tinker API. Run in a clone of SkyRL; docs/scaling.md explains each value.
set -eu
cd "${SKYRL:?the folder of a clone of https://github.com/NovaSky-AI/SkyRL}"
uv sync --extra tinker --extra fsdp
exec uv run --extra tinker --extra fsdp -m skyrl.tinker.api \
  --base-model Qwen/Qwen3-4B-Instruct-2507 \
  --backend fsdp \
  --port 8000 \
  --checkpoints-base "${CHECKPOINTS:?a folder with room for 100 GB}" \
  --backend-config '{
    "trainer.placement.policy_num_gpus_per_node": 8,
    "generator.inference_engine.num_engines": 8,
    "generator.inference_engine.tensor_parallel_size": 1,
    "generator.inference_engine.gpu_memory_utilization": 0.7,
    "trainer.micro_forward_batch_size_per_gpu": 1,
    "trainer.micro_train_batch_size_per_gpu": 1
  }'
