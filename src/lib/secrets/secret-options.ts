import type { Mark } from './secret-looks.ts'

/** Options of one letter with which programs take a password. */
const OPTIONS: readonly (readonly [programs: string, option: string])[] = [
  ['sshpass|mongo(?:sh|dump|restore|export|import)?|7z[ar]?|cqlsh|kinit|snowsql|vsql', '-p'],
  [
    '(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|cosign|helm registry|az|oc|cf|heroku|vault) login',
    '-p',
  ],
  ['redis-cli|valkey-cli|keydb-cli', '-a'],
  ['ldap(?:search|add|modify|delete|whoami|passwd)|security|etcdctl', '-w'],
  ['sqlcmd|bcp|isql|zip|unzip|mosquitto_(?:pub|sub|rr)|rar|unrar', '-P'],
  ['plink|pscp|psftp|putty', '-pw'],
  ['xfreerdp|rdesktop', '(?:/p:|-p)'],
  ['ssh-keygen', '-N'],
  ['amqp-\\w{1,20}|rabbitmqadmin|ipmitool|net rpc', '(?:-p|-P)'],
]

const VALUE = String.raw`(?:"[^"\r\n]{1,400}"|'[^'\r\n]{1,400}'|[^\s"';&|]{1,400})`
const BETWEEN = String.raw`(?:[^\n;&|]{0,200}?\s)`

const MYSQL = String.raw`(?<![\w.-])(?:mysql(?:dump|admin|import|check|sh|show)?|mariadb(?:-dump|-admin|-import|-check)?)`

const rules: readonly RegExp[] = [
  // these take it right behind -p: behind a blank comes the name of a database
  new RegExp(String.raw`(${MYSQL}\b${BETWEEN}-p)(?!\[redacted|[ \t])(${VALUE})`, 'g'),
  // but of two names one is a password that was meant
  new RegExp(
    String.raw`((?<![\w.-])(?:mysql|mariadb)\b${BETWEEN}-p[ \t]{1,4})(?!\[redacted|[ \t-])(${VALUE})(?=[ \t]{1,4}["'\w])`,
    'g',
  ),
  ...OPTIONS.map(
    ([programs, option]) =>
      new RegExp(
        String.raw`((?<![\w.-])(?:${programs})\b${BETWEEN}${option}[ \t=]{0,4})(?!\[redacted|[ \t]|--?[a-z])(${VALUE})`,
        'g',
      ),
  ),
  // a user, then a colon, behind an option of several letters or of other programs
  new RegExp(
    String.raw`((?<![\w.-])(?:curl\b${BETWEEN}-[A-Za-z]{1,8}u|(?:https?|xh)\b${BETWEEN}(?:-a|--auth))[ \t=]{0,4}["']?[^\s:"']{0,200}:)(?!\[redacted|\/\/)([^\s"']{1,400})`,
    'g',
  ),
  new RegExp(
    String.raw`((?<![\w.-])lftp\b${BETWEEN}(?:-u|--user)[ \t=]{0,4}["']?[^\s,"']{1,200},)(?!\[redacted)([^\s"']{1,400})`,
    'g',
  ),
  // cookies, and not the name of a file of them
  new RegExp(
    String.raw`((?<![\w.-])curl\b${BETWEEN}(?:-b|--cookie)[ \t=]{0,4})(?!\[redacted|["']\[redacted)("[^"=\r\n]{1,100}=[^"\r\n]{1,400}"|'[^'=\r\n]{1,100}=[^'\r\n]{1,400}'|[^\s"'=]{1,100}=[^\s"';&|]{1,400})`,
    'g',
  ),
  // the last argument
  new RegExp(String.raw`(\bvault login[ \t]{1,4})(?!\[redacted|-)(${VALUE})`, 'g'),
  new RegExp(
    String.raw`(\bhtpasswd(?![^\n;&|]{0,400}\[redacted)[ \t]{1,4}-\w{0,5}b\w{0,5}[ \t]{1,4}(?:[^\s;&|]{1,200}[ \t]{1,4}){1,2})(${VALUE})`,
    'g',
  ),
  new RegExp(
    String.raw`(\bnet use\b${BETWEEN}\/user:[^\s]{1,200}[ \t]{1,4})(?!\[redacted|\/)(${VALUE})`,
    'gi',
  ),
  // a line of .netrc
  /(\bmachine\s{1,8}\S{1,200}\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8})(?!\[redacted)(\S{1,400})/g,
  // a user, then a colon or a percent sign
  /((?<!\S)(?:-u|-U|--user|--proxy-user)[ \t=]{0,4}["']?[^\s:"'%]{0,200}[:%])(?!\[redacted|\/\/)([^\s"']{1,400})/g,
  /((?<!\S)-pass(?:in|out)?[ \t]{1,4}pass:)([^\s"']{1,400})/g,
  /((?<!\S)--?(?:[a-z]{1,20}-){0,3}(?:pass(?:word|phrase|wd)?|pwd|token|secret)[ \t=]{1,4})(?!\[redacted|-)("[^"\r\n]{1,400}"|'[^'\r\n]{1,400}'|[^\s"']{1,400})/gi,
  // of a password on standard input: echo … | sudo -S
  /(\bsudo[ \t]{1,4}-S[^\n;&|]{0,80}?<<<[ \t]{0,4})(?!\[redacted)("[^"\r\n]{1,400}"|'[^'\r\n]{1,400}'|[^\s"']{1,400})/g,
  /(\b(?:echo|printf)[ \t]{1,4}(?:-n[ \t]{1,4})?)(?!\[redacted)(["']?[^\s"'|]{1,200}["']?)(?=[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]+-S|(?:docker|podman|helm registry)[ \t]login|passwd|chpasswd))/g,
]

/** The text without what programs take as a password: `mysql -p…`, `curl -u user:…`. */
export function withoutOptions(text: string, mark: Mark): string {
  return rules.reduce(
    (rest, rule) =>
      rest.replaceAll(rule, (_: string, before: string, value: string) => {
        const quote = /^["']/.exec(value)?.[0] ?? ''
        return quote === ''
          ? before + mark(value)
          : before + quote + mark(value.slice(1, -1)) + quote
      }),
    text,
  )
}
