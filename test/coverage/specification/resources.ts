import { COMPUTER, MESSAGE, REPORT, SAMPLE, SESSION } from './samples.ts'
import type { Section } from './section.ts'

/** Readiness reports, sessions, messages and computers. */
export const RESOURCES: readonly Section[] = [
  {
    heading: 'Readiness report',
    name: 'readiness',
    type: 'ReadinessReport',
    resource: 'readiness_reports',
    sample: REPORT,
    rows: `
      reportId | uuid | dim_readiness_report.report_id
      createdAt | number | dim_readiness_report.created_at
      repoUrl | string | dim_readiness_report.repo_url
      apps | object | dim_readiness_report.app_count#size
      apps.*.description | string | raw
      report | object | fct_readiness_criterion#rows
      report.*.numerator | number or null | fct_readiness_criterion.numerator
      report.*.denominator | number | fct_readiness_criterion.denominator
      report.*.rationale | string | fct_readiness_criterion.rationale
      commitHash | string, optional | dim_readiness_report.commit_hash
      branch | string, optional | dim_readiness_report.branch
      hasLocalChanges | boolean, optional | dim_readiness_report.has_local_changes
      hasNonRemoteCommits | boolean, optional | dim_readiness_report.has_non_remote_commits
      modelUsed | object, optional | raw
      modelUsed.id | string | dim_readiness_report.model_id
      modelUsed.reasoningEffort | enum low, medium, high, off | dim_readiness_report.reasoning_effort
      agentVersion | string, optional | dim_readiness_report.agent_version
    `,
  },
  {
    heading: 'Session',
    name: 'session',
    type: 'Session',
    resource: 'sessions',
    sample: SESSION,
    rows: `
      sessionId | string | fct_session.session_id
      status | enum idle, pending, running | fct_session.status
      messageCount | integer | fct_session.message_count
      createdAt | integer | fct_session.created_at
      updatedAt | integer | fct_session.updated_at
      title | string, optional | fct_session.title
      completedAt | integer, optional | fct_session.completed_at
      computerId | string, optional | fct_session.computer_id
      sessionSettings | object | raw
      sessionSettings.model | string, optional | fct_session.model_id
      sessionSettings.specModeModel | string, optional | fct_session.spec_model_id
      sessionSettings.providerLockTimestamp | string, optional | raw
      sessionSettings.assistantActiveTimeMs | integer, optional | fct_session.assistant_active_ms
      sessionSettings.tokenUsage | object, optional | raw
      sessionSettings.tokenUsage.inputTokens | number | fct_session.input_tokens
      sessionSettings.tokenUsage.outputTokens | number | fct_session.output_tokens
      sessionSettings.tokenUsage.cacheCreationTokens | number | fct_session.cache_creation_tokens
      sessionSettings.tokenUsage.cacheReadTokens | number | fct_session.cache_read_tokens
      sessionSettings.tokenUsage.thinkingTokens | number | fct_session.thinking_tokens
      sessionSettings.tokenUsage.serviceCredits | number | fct_session.service_credits
      sessionSettings.inclusiveTokenUsage | object, optional | raw
      sessionSettings.inclusiveTokenUsage.inputTokens | number | fct_session.inclusive_input_tokens
      sessionSettings.inclusiveTokenUsage.outputTokens | number | fct_session.inclusive_output_tokens
      sessionSettings.inclusiveTokenUsage.cacheCreationTokens | number | fct_session.inclusive_cache_creation_tokens
      sessionSettings.inclusiveTokenUsage.cacheReadTokens | number | fct_session.inclusive_cache_read_tokens
      sessionSettings.inclusiveTokenUsage.thinkingTokens | number | fct_session.inclusive_thinking_tokens
      sessionSettings.inclusiveTokenUsage.serviceCredits | number | fct_session.inclusive_service_credits
      sessionSettings.childInclusiveTokenUsageBySessionId | object, optional | fct_session.child_count#size
      sessionSettings.archivedAt | string, optional | fct_session.archived_at
      sessionSettings.tags | array of object, optional | stg_platform__session_tags[session_id=session-1]#rows
      sessionSettings.tags[].name | string | stg_platform__session_tags.tag_name
      sessionSettings.tags[].metadata | object, optional | raw
      sessionSettings.enabledToolIds | array of string, optional | raw
      sessionSettings.disabledToolIds | array of string, optional | raw
    `,
  },
  {
    heading: 'Message',
    name: 'message',
    type: 'Message',
    resource: 'messages',
    sample: MESSAGE,
    rows: `
      id | string | fct_message.message_id
      role | enum user, assistant, tool, system | fct_message.role
      content | array of object | fct_message.block_count#size
      content[].type | string | raw
      content[].text | string, optional | fct_message.text_length#size
      content[].id | string, optional | raw
      createdAt | number | fct_message.created_at
      updatedAt | number | fct_message.updated_at
      parentId | string, optional | fct_message.parent_id
      userMessageSource | enum web, desktop, cli_tui, cli_exec, cli_acp, team-chat, issue-tracker, sessions_api, api, automation, readiness-remediation, readiness-evaluation, wiki-generation, wiki-ci-setup, optional | fct_message.source
      visibility | enum both, llm_only, user_only, optional | fct_message.visibility
      vendorBMessageId | string, optional | raw
      vendorBEncryptedContent | string, optional | raw
      vendorBReasoningId | string, optional | raw
      vendorBReasoningSummary | string, optional | raw
      vendorBPhase | enum commentary, final_answer, null, optional | raw
      vendorCThoughtSignature | string, optional | raw
      chatCompletionReasoningField | enum reasoning, reasoning_content, optional | raw
      chatCompletionReasoningContent | string, optional | raw
      isUserVisible | boolean, optional | fct_message.is_user_visible
      isError | boolean, optional | fct_message.is_error
    `,
  },
  {
    heading: 'Computer',
    name: 'computer',
    type: 'Computer',
    resource: 'computers',
    sample: COMPUTER,
    rows: `
      id | string | dim_computer.computer_id
      name | string | dim_computer.computer_name
      providerType | enum byom, sandbox-provider | dim_computer.provider_type
      createdAt | number | dim_computer.created_at
      hostId | uuid, optional | dim_computer.host_id
      hostname | string, optional | dim_computer.hostname
      status | enum provisioning, active, error, optional | dim_computer.status
      provisioningSteps | array of object, optional | fct_provisioning_step[computer_id=computer-1]#rows
      provisioningSteps[].id | string, optional | fct_provisioning_step.step_id
      provisioningSteps[].name | string, optional | fct_provisioning_step.step_name
      provisioningSteps[].status | string, optional | fct_provisioning_step.status
      provisioningSteps[].error | string, optional | fct_provisioning_step.error
      provisioningSteps[].startedAt | number, optional | fct_provisioning_step.started_at
      provisioningSteps[].completedAt | number, optional | fct_provisioning_step.completed_at
      provisioningSteps[].installSessionId | string, optional | fct_provisioning_step.install_session_id
      relayClientUrl | uri, optional | raw
      relayAgentUrl | uri, optional | raw
      remoteUser | string, optional | dim_computer.remote_user
    `,
  },
  {
    heading: 'Metrics sample',
    name: 'metrics',
    type: 'ComputerMetrics',
    resource: 'computer_metrics',
    sample: SAMPLE,
    rows: `
      timestamp | string | fct_computer_metric.sampled_at
      cpuUsedPct | number | fct_computer_metric.cpu_used_pct
      cpuCount | number | fct_computer_metric.cpu_count
      memUsed | number | fct_computer_metric.mem_used
      memTotal | number | fct_computer_metric.mem_total
      diskUsed | number | fct_computer_metric.disk_used
      diskTotal | number | fct_computer_metric.disk_total
    `,
  },
]
