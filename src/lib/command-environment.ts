type Environment = Readonly<Record<string, string | undefined>>

/** What a program needs to be found, to know its user and to speak their language. */
const GENERAL = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR']

/** How a program reaches the screen and the speakers of the user. */
const DESKTOP = [
  ...['DISPLAY', 'XAUTHORITY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR'],
  ...['XDG_CURRENT_DESKTOP', 'PULSE_SERVER', 'PIPEWIRE_REMOTE'],
]

/** Without these no program starts on Windows. */
const WINDOWS = [
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'TEMP', 'TMP'],
  ...['USERPROFILE', 'APPDATA', 'LOCALAPPDATA'],
]

const PASSED = new Set([...GENERAL, ...DESKTOP, ...WINDOWS])

/**
 * The environment of a program that the configuration names: enough to run and to
 * reach the desktop. Keys, passwords and whatever else this process was given stay out.
 */
export function commandEnvironment(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && isPassed(name.toUpperCase()) ? [[name, value] as const] : [],
    ),
  )
}

function isPassed(name: string): boolean {
  return PASSED.has(name) || name.startsWith('LC_')
}
