import { describe, expect, it } from 'vitest'
import { ProjectError } from '../../src/model/project/errors.ts'
import {
  readMacros,
  readTemplate,
  render,
  type Names,
  type Rendered,
} from '../../src/model/project/template.ts'

const names: Names = {
  self: 'main.fct_day',
  models: new Map([
    ['stg_day', 'staging.stg_day'],
    ['dim_user', 'main.dim_user'],
  ]),
  sources: new Map([['platform', ['users', 'tokens_days']]]),
  sourceSql: (source, table) => `read_parquet('/lake/${source}/${table}')`,
  vars: { first_day: '2026-01-01', limit: 5, kinds: ['a', 'b'], flag: true },
}

function rendered(template: string): Rendered {
  return render(readTemplate(template, 'models/m.sql'), names)
}

function failure(template: string): { message: string; hint: string | undefined } {
  try {
    rendered(template)
  } catch (error) {
    if (error instanceof ProjectError) return { message: error.message, hint: error.hint }
    throw error
  }
  throw new Error('it rendered')
}

it('a template takes the incremental branch when its table exists', () => {
  const template = '{% if is_incremental() %}from {{ this }}{% else %}all{% endif %}'
  const { sql } = render(readTemplate(template, 'models/m.sql'), { ...names, isIncremental: true })
  expect(sql).toBe('from main.fct_day')
})

describe('macros of the project', () => {
  const files = [
    {
      file: 'macros/numbers.sql',
      text: `{# Sums. #}
{% macro total(counts) -%}
    {{ fitting('sum(' ~ counts ~ ')') }}
{%- endmacro %}`,
    },
    {
      file: 'macros/fitting.sql',
      text: `text that is in no macro
{% macro fitting(value) %}{% if target.type == 'duckdb' %}try_cast({{ value }} as bigint){% endif %}{% endmacro %}`,
    },
  ]

  it('are called by templates and by each other, and print only what they return', () => {
    const template = "select {{ total('calls') }} as calls from {{ ref('stg_day') }}"
    const { sql, refs } = render(readTemplate(template, 'models/m.sql', readMacros(files)), names)
    expect(sql).toBe('select try_cast(sum(calls) as bigint) as calls from staging.stg_day')
    expect(refs).toEqual(['stg_day'])
  })

  it.each([
    ["{{ totl('a') }}", "models/m.sql:1: unknown name 'totl'"],
    ['{{ total }}', "models/m.sql:1: 'total' is a function"],
    ["{% set total = 'a' %}", "models/m.sql:1: 'total' cannot be set"],
    ['{{ target.schma }}', "models/m.sql:1: unknown attribute of target 'schma'"],
  ])('are refused when they are misspelled: %s', (template, message) => {
    expect(() => readTemplate(template, 'models/m.sql', readMacros(files))).toThrow(message)
  })

  it('name their own file and line in an error', () => {
    const macros = readMacros([
      {
        file: 'macros/m.sql',
        text: "{% macro reads() %}\n\n{{ ref('stg_dya') }}{% endmacro %}{% macro none_of() %}{{ none }}{% endmacro %}",
      },
    ])
    const rendering = (template: string) => () =>
      render(readTemplate(template, 'models/m.sql', macros), names)
    expect(rendering('{{ reads() }}')).toThrow("macros/m.sql:3: unknown model 'stg_dya'")
    expect(rendering('{{ none_of() }}')).toThrow(
      'macros/m.sql:3: this expression would print nothing',
    )
  })

  it('are refused if two have one name', () => {
    const twin = { file: 'macros/other.sql', text: '\n{% macro total() %}{% endmacro %}' }
    expect(() => readMacros([...files, twin])).toThrow(
      "macros/other.sql:2: the macro 'total' is already defined in macros/numbers.sql",
    )
  })

  it('are refused for unknown names and a missing end', () => {
    const read = (text: string) => () => readMacros([{ file: 'macros/m.sql', text }])
    expect(read('{% macro m(a) %}\n{{ b }}{% endmacro %}')).toThrow(
      "macros/m.sql:2: unknown name 'b'",
    )
    expect(read('{% macro m(a) %}')).toThrow("macros/m.sql:1: 'macro' has no 'endmacro'")
  })
})

describe('a template renders', () => {
  const cases: [string, string][] = [
    ["select * from {{ ref('stg_day') }}", 'select * from staging.stg_day'],
    [`select * from {{ ref("stg_day") }} x`, 'select * from staging.stg_day x'],
    [
      "from {{ source('platform', 'users') }} as u",
      "from read_parquet('/lake/platform/users') as u",
    ],
    ["{{ config(materialized='table') }}\n\nselect 1", '\n\nselect 1'],
    ["{{\n  config(\n    tags=['a']\n  )\n}}\nselect 1", '\n\n\n\n\nselect 1'],
    ["select {{ var('limit') }}, '{{ var('first_day') }}'", "select 5, '2026-01-01'"],
    ["select {{ var('absent', 7) }}", 'select 7'],
    ['{% if is_incremental() %}where x{% else %}all{% endif %}', 'all'],
    ['{% if not is_incremental() %}all{% endif %}', 'all'],
    ['{% if var("flag") and true %}yes{% endif %}', 'yes'],
    ["{% set a = 'x' %}{{ a }}{{ a | upper }}", 'xX'],
    ['{% set a %}long {{ this }}{% endset %}{{ a }}', 'long main.fct_day'],
    ["{% for c in ['a', 'b'] %}{{ c }}{{ ', ' if not loop.last }}{% endfor %}", 'a, b'],
    ["{% for c in var('kinds') %}{{ loop.index }}{{ c }};{% endfor %}", '1a;2b;'],
    ["{%- for k, v in {'a': 1}.items() -%}\n  {{ k ~ v }}\n{%- endfor -%}", 'a1'],
    ['{% for c in [] %}x{% else %}none{% endfor %}', 'none'],
    [
      "{% for t in ['stg_day', 'dim_user'] %}{{ ref(t) }} {% endfor %}",
      'staging.stg_day main.dim_user',
    ],
    ['select 1 {# {{ anything }} #}', 'select 1'],
    ["{{ ['a', 'b'] | join(', ') }}", 'a, b'],
    ['select 1\n', 'select 1'],
    ["select '{{ 'a' if false else 'b' }}'", "select 'b'"],
    ["{% if var('absent', none) is none %}no{% endif %}", 'no'],
    ["{% if 'a' is not none %}some{% endif %}", 'some'],
    ["select {'a': 1}", "select {'a': 1}"],
  ]
  it.each(cases)('%s', (template, sql) => {
    expect(rendered(template).sql).toBe(sql)
  })
})

it('rendering returns the dependencies and the config of a template', () => {
  const template = `{{
    config(materialized='table', tags=['daily', 'core'], meta={'owner': {'team': 'data'}})
}}
select * from {{ ref('stg_day') }} join {{ ref('dim_user') }} using (user_id)
join {{ ref('stg_day') }} join {{ source('platform', 'users') }}`
  expect(rendered(template)).toMatchObject({
    refs: ['stg_day', 'dim_user'],
    sources: ['platform.users'],
    config: { materialized: 'table', tags: ['daily', 'core'], meta: { owner: { team: 'data' } } },
    configLine: 2,
  })
})

describe('a template is refused, with file and line', () => {
  const cases: [string, string, string?][] = [
    ['select 1\n\n{{ rfe("stg_day") }}', "models/m.sql:3: unknown name 'rfe'", "'ref'"],
    ['{{ env_var("KEY") }}', "models/m.sql:1: unknown name 'env_var'", 'config, is_incremental'],
    ['{{\n  x\n}}', "models/m.sql:2: unknown name 'x'"],
    ['{% if a %}{% endif %}', "models/m.sql:1: unknown name 'a'"],
    ['{% set a = b %}', "models/m.sql:1: unknown name 'b'"],
    ['{{ a }}{% set a = 1 %}', "models/m.sql:1: unknown name 'a'"],
    ['{% for c in [1] %}{% endfor %}\n{{ c }}', "models/m.sql:2: unknown name 'c'"],
    ['{{ dbt.date_trunc("day", "x") }}', "models/m.sql:1: unknown name 'dbt'"],
    ['{{ ref(model) }}', "models/m.sql:1: unknown name 'model'"],
    ["\n{{ ref('stg_dya') }}", "models/m.sql:2: unknown model 'stg_dya'", "'stg_day'"],
    [
      "\n\n{{ source('platfrom', 'users') }}",
      "models/m.sql:3: unknown source 'platfrom'",
      "'platform'",
    ],
    [
      "{{ source('platform', 'user') }}",
      "models/m.sql:1: unknown table of source 'platform' 'user'",
      "'users'",
    ],
    ["{% for t in ['zzz'] %}\n{{ ref(t) }}{% endfor %}", "models/m.sql:2: unknown model 'zzz'"],
    ["{{ ref('a', 'b') }}", "models/m.sql:1: wrong arguments: expected ref('model')"],
    [
      "{{ source('platform') }}",
      "models/m.sql:1: wrong arguments: expected source('source', 'table')",
    ],
    ["{{ var('frist_day') }}", "models/m.sql:1: unknown var 'frist_day'", "'first_day'"],
    [
      "{{ config('table') }}",
      'models/m.sql:1: config takes keyword arguments',
      "config(materialized='table')",
    ],
    ['{{ ref }}', "models/m.sql:1: 'ref' is a function", 'ref(…)'],
    ['{% macro m() %}{% endmacro %}', "models/m.sql:1: unknown tag 'macro'"],
    ['\n{% do x %}', "models/m.sql:2: unknown tag 'do'"],
    ['\n{%- generation %}', "models/m.sql:2: unknown tag 'generation'"],
    ['{% set ref = 1 %}', "models/m.sql:1: 'ref' cannot be set"],
    ["{{ 'a' | uper }}", "models/m.sql:1: unknown filter 'uper'", "'upper'"],
    ["{% if 'a' is nonee %}{% endif %}", "models/m.sql:1: unknown test 'nonee'", "'none'"],
    [
      '{% for c in [1] %}{{ loop.lats }}{% endfor %}',
      "models/m.sql:1: unknown attribute of loop 'lats'",
      "'last'",
    ],
    ['{{ this.schema }}', "models/m.sql:1: unknown attribute of this 'schema'"],
    ["{% set m = {'a': 1} %}\n{{ m.b }}", 'models/m.sql:2: this expression would print nothing'],
    ["{{ var('kinds') }}", 'models/m.sql:1: this expression would print a list or a map'],
    ['select 1\n{% if true %}', "models/m.sql:2: 'if' has no 'endif'"],
    ['{% endfor %}', "models/m.sql:1: 'endfor' without 'for'"],
    ['{% if true %}{% endfor %}', "models/m.sql:1: 'endfor' without 'for'"],
    ['{% else %}', "models/m.sql:1: 'else' without 'if'"],
    ["select {{ 'a", 'models/m.sql: the template cannot be read: Unexpected end of input'],
    ['{{ }}', 'models/m.sql:1: this expression would print nothing'],
    ["{{ 'a', 'b' }}", 'models/m.sql:1: this expression would print a list or a map'],
  ]
  it.each(cases)('%s', (template, message, hint) => {
    const refused = failure(template)
    expect(refused.message).toBe(message)
    if (hint !== undefined) expect(refused.hint).toContain(hint)
  })
})

it('line numbers of errors count lines in strings, comments and text that looks like tags', () => {
  const template = "{# a\n{{ b }} #}select '}}'\n{{ var(\n'x\\'{{',\n\n1) }}\n{{ oops }}"
  expect(failure(template).message).toBe("models/m.sql:7: unknown name 'oops'")
})
