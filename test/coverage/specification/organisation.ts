import { CHANGE, CUSTOM_MODEL, LIMITS, LIMITS_RESULT, PROBLEM, SETTINGS } from './samples.ts'
import type { Section } from './section.ts'

/** Problems, settings and limits of credits. */
export const ORGANISATION: readonly Section[] = [
  {
    heading: 'Problem body',
    name: 'problem',
    type: 'Problem',
    resource: null,
    sample: PROBLEM,
    rows: `
      detail | string | client
      status | integer | client
      title | string | client
      metadata | object | client
      requestId | string, optional | client
    `,
  },
  {
    heading: 'Enterprise control change',
    name: 'change',
    type: 'ControlChange',
    resource: 'enterprise_controls',
    sample: CHANGE,
    rows: `
      revision | integer | dim_control_current.revision
      settings | object | dim_control_current.settings_path#keys
      user | object | raw
      user.id | string | dim_control_current.actor_id
      user.email | string | dim_control_current.actor_email
      user.name | string | dim_control_current.actor_name
      updatedAt | date-time | dim_control_current.changed_at
    `,
  },
  {
    heading: 'Enterprise control settings',
    name: 'settings',
    type: null,
    resource: 'enterprise_controls',
    sample: SETTINGS,
    rows: `
      sessionDefaultSettings | object, optional | setting
      sessionDefaultSettings.model | string, optional | setting
      sessionDefaultSettings.reasoningEffort | enum none, dynamic, off, minimal, low, medium, high, xhigh, max, optional | setting
      sessionDefaultSettings.interactionMode | enum auto, spec, agi, mission, optional | setting
      sessionDefaultSettings.autonomyLevel | enum off, low, medium, high, optional | setting
      sessionDefaultSettings.autonomyMode | enum normal, spec, auto-low, auto-medium, auto-high, optional | setting
      sessionDefaultSettings.specModeModel | string, optional | setting
      sessionDefaultSettings.specModeReasoningEffort | enum none, dynamic, off, minimal, low, medium, high, xhigh, max, optional | setting
      maxAutonomyLevel | enum off, low, medium, high, optional | setting
      mcpAutonomyOverrides | object, optional | setting
      mcpAutonomyOverrides.*.defaultLevel | enum low, medium, high | setting
      mcpAutonomyOverrides.*.tools.* | enum low, medium, high | setting
      cloudSessionSync | boolean, optional | setting
      wikiCloudSync | boolean, optional | setting
      includeCoAuthoredByAgent | boolean, optional | setting
      enableAgentShield | boolean, optional | setting
      ideAutoConnect | boolean, optional | setting
      commandAllowlist | array of string, optional | setting
      commandDenylist | array of string, optional | setting
      customModels | array of object, optional | setting
      modelPolicy | object, optional | setting
      modelPolicy.allowedModelIds | array of string, optional | setting
      modelPolicy.blockedModelIds | array of string, optional | setting
      modelPolicy.allowCustomModels | boolean, optional | setting
      modelPolicy.allowedBaseUrls | array of string, optional | setting
      modelPolicy.allowAllServiceModels | boolean, optional | setting
      modelPolicy.isFastModelsAllowed | boolean, optional | setting
      mcpPolicy | object, optional | setting
      mcpPolicy.enabled | boolean, optional | setting
      mcpPolicy.allowlist | array of string, optional | setting
      missionPolicy | object, optional | setting
      missionPolicy.restrictedAccess | boolean, optional | setting
      missionPolicy.allowedUserIds | array of string, optional | setting
      userModelPolicies | object, optional | setting
      userModelPolicies.*.allowedModelIds | array of string | setting
      userModelPolicies.*.blockedModelIds | array of string | setting
      enabledPlugins | object, optional | setting
      enabledPlugins.* | boolean | setting
      extraKnownMarketplaces | object, optional | setting
      extraKnownMarketplaces.*.source | object | setting
      strictKnownMarketplaces | array of object, optional | setting
      networkPolicy | object, optional | setting
      networkPolicy.allowedIps | array of string, optional | setting
      sandbox | object, optional | setting
      sandbox.enabled | boolean, optional | setting
      sandbox.filesystem.allowWrite | array of string, optional | setting
      sandbox.filesystem.allowRead | array of string, optional | setting
      sandbox.filesystem.denyWrite | array of string, optional | setting
      sandbox.filesystem.denyRead | array of string, optional | setting
      sandbox.network.allowedDomains | array of string, optional | setting
      sandbox.network.allowUnixSockets | array of string, optional | setting
      sandbox.network.allowAllUnixSockets | boolean, optional | setting
      sandbox.network.allowLocalBinding | boolean, optional | setting
      sandbox.network.httpProxyPort | number, optional | setting
      sandbox.network.socksProxyPort | number, optional | setting
      restrictMemberVisibility | boolean, optional | setting
      restrictApiKeyCreationToManagers | boolean, optional | setting
      managedComputersEnabled | boolean, optional | setting
      byomComputersEnabled | boolean, optional | setting
      managedComputersAllowedEmails | array of string, optional | setting
      byomComputersAllowedEmails | array of string, optional | setting
      sessionRetentionDays | integer, optional | setting
    `,
  },
  {
    heading: 'Source object variants',
    name: 'source',
    type: null,
    resource: 'enterprise_controls',
    sample: SETTINGS.strictKnownMarketplaces,
    rows: `
      [].source | enum code-host, url, local, git-subdir | setting
      [].repo | string, optional | setting
      [].url | string, optional | setting
      [].path | string, optional | setting
    `,
  },
  {
    heading: 'Custom model',
    name: 'customModel',
    type: null,
    resource: 'enterprise_controls',
    sample: CUSTOM_MODEL,
    rows: `
      model | string | setting
      provider | enum vendor_a, vendor_b, generic-chat-completion-api, service, vendor_c, vendor_d, vendor_e | setting
      id | string, optional | setting
      index | number, optional | setting
      baseUrl | string, optional | setting
      apiKey | string, optional | setting
      displayName | string, optional | setting
      maxContextLimit | number, optional | setting
      thinkingMaxTokens | number, optional | setting
      maxOutputTokens | number, optional | setting
      enableThinking | boolean, optional | setting
      noImageSupport | boolean, optional | setting
      reasoningEffort | enum none, dynamic, off, minimal, low, medium, high, xhigh, max, optional | setting
      extraHeaders | object, optional | setting
      extraHeaders.* | string | setting
      extraArgs | object, optional | setting
      hostedCloud | object, optional | setting
      hostedCloud.cloudProfile | string, optional | setting
      hostedCloud.cloudRegion | string, optional | setting
      hostedCloud.hostedBaseUrl | uri, optional | setting
      hostedCloud.cloudAuthRefresh | string, optional | setting
      hostedCloud.cloudCredentialExport | string, optional | setting
    `,
  },
  {
    heading: 'Credit limits',
    name: 'limits',
    type: 'UsageLimits',
    resource: 'usage_limits',
    sample: LIMITS,
    rows: `
      globalLimit | integer or null | fct_usage_limit.credit_limit[limit_scope=global]
      userLimits | array of object | stg_platform__usage_limits_users#rows
      userLimits[].email | string | fct_usage_limit.user_email
      userLimits[].limit | integer or null | fct_usage_limit.credit_limit[limit_scope=user]
    `,
  },
  {
    heading: 'Credit limits, result of a bulk request',
    name: 'limitsResult',
    type: 'UserLimitsResult',
    resource: null,
    sample: LIMITS_RESULT,
    rows: `
      updated | array of object | client
      updated[].email | string | client
      updated[].limit | integer or null | client
      errors | array of object | client
      errors[].email | string | client
      errors[].error | string | client
    `,
  },
]
