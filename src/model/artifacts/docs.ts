import type { Project } from '../project/types.ts'
import type { Entry } from './ids.ts'

/** The first page of dbt's documentation. */
const OVERVIEW = {
  name: '__overview__',
  file: 'models/overview.md',
  text: 'Facts and dimensions of the usage of an AI-agent platform: schema `main` for marts, `staging` and `intermediate` for what they are made from.',
}

/** The doc blocks of a project, including the first page. */
export function docEntries(project: Project): Entry[] {
  return [OVERVIEW, ...project.docs].map(({ name, file, text }) => ({
    name,
    resource_type: 'doc',
    unique_id: `doc.${project.name}.${name}`,
    package_name: project.name,
    path: file.split('/').slice(1).join('/'),
    original_file_path: file,
    block_contents: text,
  }))
}
