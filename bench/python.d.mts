/** The Python of the environment with the packages of a list: a path, whether it is made or not. */
export function pythonOf(list: string): string
/** Makes that environment, unless it is there. @throws where there is no Python, or a package cannot be had. */
export function installPython(list: string): void
