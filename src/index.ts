/** The public API, nothing else. */
export { z } from 'zod';
export {
  type Agent,
  type AgentAnswer,
  type AgentContext,
  type AgentFunction,
  type AgentOptions,
  type AgentRollout,
  agent,
  agentAt,
  agentCommand,
} from './agents/agent.js';
export type { AgentModel } from './agents/agentModel.js';
export { advantage, grpoAdvantages, grpoAdvantagesWithoutStd, leaveOneOutAdvantages } from './algorithm/advantages.js';
export { type Aggregation, miniBatchWeights, weightedAdvantages } from './algorithm/aggregate.js';
export { clippedLoss } from './algorithm/clippedLoss.js';
export { type KlEstimator, klLoss, klValues } from './algorithm/kl.js';
export type { PolicyLoss, PolicyLossResult, PolicySequence } from './algorithm/policyLoss.js';
export { sequenceLoss } from './algorithm/sequenceLoss.js';
export { BENCHMARKS, type BenchmarkChoice, type LoadedBenchmark, loadBenchmark } from './benchmarks/loadBenchmark.js';
export { ChatFormat } from './chat/chatFormat.js';
export { finalText, parseTurn } from './chat/parseTurn.js';
export { Transcript } from './chat/transcript.js';
export { type CardFilter, type CardSource, cardCommand, type DataCard, type WrittenCard, writeCard } from './data/card.js';
export { type CheckOptions, type CheckResult, checkSet } from './data/check/checkSet.js';
export type { Fault, FaultKind } from './data/check/fault.js';
export { type Contamination, EvaluationIndex } from './data/contamination/evaluationIndex.js';
export { type Conversation, readConversation } from './data/conversations/conversation.js';
export { conversationRow } from './data/conversations/conversationRow.js';
export { type ConversationRecord, readConversations } from './data/conversations/readConversations.js';
export { type Difficulty, difficultyOf } from './data/difficulty/labels.js';
export { type DifficultyOptions, type DifficultyProfile, profileDifficulty } from './data/difficulty/profileDifficulty.js';
export { type Diversity, diversityOf } from './data/diversity.js';
export { type Duplicates, findDuplicates } from './data/duplicates/findDuplicates.js';
export type { Inspection } from './data/inspect/inspection.js';
export { type InspectOptions, inspectSet } from './data/inspect/inspectSet.js';
export { type MixOptions, type MixReport, mix } from './data/mix/mix.js';
export { type MixPlan, type MixPlanInput, readPlan, resolvePlan } from './data/mix/plan.js';
export { findPrivate, maskPrivate, type PrivateFind } from './data/privacy.js';
export { type SelectedFile, type SelectFileOptions, selectFile } from './data/select/selectFile.js';
export type { StitchReport } from './data/stitch/stitchReport.js';
export { type StitchSetOptions, stitchSet } from './data/stitch/stitchSet.js';
export { type Stitched, type StitchOutcome, stitchSolution } from './data/stitch/stitchSolution.js';
export { type Behaviour, behavioursOf } from './data/trajectories/behaviours.js';
export { collectTrajectories, type TrajectoriesOptions, type TrajectoriesReport } from './data/trajectories/collect.js';
export { type ImportOptions, type ImportReport, importTraces } from './data/trajectories/importTraces.js';
export { openScorer, type TrajectoryScorer } from './data/trajectories/scorer.js';
export type { Datum } from './domain/datum.js';
export type { Demonstration } from './domain/demonstration.js';
export type { EnvironmentOutcome } from './domain/environmentOutcome.js';
export type { RunEvent } from './domain/event.js';
export type { Group, Scored } from './domain/group.js';
export type { Message } from './domain/message.js';
export type { Problem, ProblemKind } from './domain/problem.js';
export type { Reward } from './domain/reward.js';
export type { Segment } from './domain/segment.js';
export type { StopReason } from './domain/stopReason.js';
export { type Branch, branchesOf, executedCalls, modelTokens, type Rollout, type Trajectory, turnsOf } from './domain/trajectory.js';
export type { Reply, Turn } from './domain/turn.js';
export type { Graded, InfraFailure, Verdict } from './domain/verdict.js';
export type { EngineCapabilities } from './engine/capabilities.js';
export { startEmbeddedEngine } from './engine/embedded.js';
export type { Engine } from './engine/engine.js';
export { EngineError } from './engine/engineError.js';
export type { Sample, SampleRequest, Sampler } from './engine/sampler.js';
export { connectEngine } from './engine/tinkerClient.js';
export type { AdamParams, LossRequest, Trainer } from './engine/trainer.js';
export {
  type Action,
  type Ending,
  type EndScore,
  type Environment,
  type EnvironmentDefinition,
  environment,
  type ResetContext,
  type Start,
  type StepContext,
  type StepResult,
  type StepReward,
} from './environments/environment.js';
export { type Moment, type Played, type Player, type PlayOptions, play, type ScriptedCall } from './environments/play.js';
export type { EvaluationResult } from './evaluation/evaluate.js';
export { type EvaluateOptions, evaluate } from './evaluation/evaluateModel.js';
export type { Report, StageReport } from './evaluation/report.js';
export { type CalcProblem, calcProblems } from './problems/calc.js';
export { loadProblems } from './problems/load.js';
export { type OpenProblemsOptions, openProblems, type ProblemFile } from './problems/readProblems.js';
export { findSchema, SCHEMAS } from './problems/schemas/index.js';
export type { Schema } from './problems/schemas/schema.js';
export { deriveSeed, Random } from './random.js';
export { loadRecipe, resolveRecipe } from './recipe/load.js';
export type { Recipe, RecipeInput } from './recipe/schema.js';
export { gradeChoice, shuffleOptions } from './reward/choice.js';
export { type CodeJudge, openCodeJudge } from './reward/code/codeJudge.js';
export type { CodeTests } from './reward/code/codeTests.js';
export { type CodeVerdict, gradeCode } from './reward/code/gradeCode.js';
export { readCodeTests } from './reward/code/readCodeTests.js';
export { type Extraction, extractAnswer } from './reward/extract.js';
export { gradeMath } from './reward/math/gradeMath.js';
export { mathGrader } from './reward/mathGrader.js';
export { paperReward } from './reward/paperReward.js';
export { openProblemGrader, problemGrader } from './reward/problemGrader.js';
export type { RewardFunction } from './reward/rewardFunction.js';
export { openRun } from './runs/reader.js';
export type { CodeRunner } from './sandbox/codeRunner.js';
export { openCodeRunner } from './sandbox/open.js';
export { type GradedRollout, type Policy, type PolicyOptions, withPolicy } from './session/policy.js';
export { resolveModel } from './setup/weights.js';
export { openTable, readTable } from './tables/openTable.js';
export type { BadRow, Table, TableRow } from './tables/table.js';
export { type CreateOptions, createTable, type TableWriter } from './tables/writeTable.js';
export type { AiTool } from './tools/aiTool.js';
export { type AiToolsOptions, aiTools } from './tools/aiTools.js';
export { type CacheOptions, cached } from './tools/cached.js';
export { Toolbox, ToolSession } from './tools/callTool.js';
export { codeInterpreter } from './tools/codeInterpreter.js';
export { dryRun } from './tools/dryRun.js';
export { Gate } from './tools/gate.js';
export type { JsonSchema } from './tools/jsonSchema.js';
export { type JsonTool, jsonTool } from './tools/jsonTool.js';
export { limitText } from './tools/limitText.js';
export type { McpOptions, McpServer } from './tools/mcp/mcpServer.js';
export { type McpTools, mcpTools } from './tools/mcp/mcpTools.js';
export { type Tool, type ToolContext, type ToolLimits, type ToolOutcome, tool } from './tools/tool.js';
export { mlflow } from './trackers/mlflow.js';
export { tensorboard } from './trackers/tensorboard.js';
export { type RunOutcome, type TrackedRun, type Tracker, type TrackerAlarm, TrackerGone, type TrackerPoint } from './trackers/tracker.js';
export { wandb } from './trackers/wandb.js';
export { type WebhookBody, webhook } from './trackers/webhook.js';
export { toDatum, toResponse } from './training/datum.js';
export { miniBatches } from './training/miniBatches.js';
export { problemsOfStep } from './training/problemStream.js';
export { type TrainOptions, type TrainResult, train } from './training/train.js';
export { UserError } from './userError.js';
