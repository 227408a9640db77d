/** The tools of the workspace that a rule can name, and `delegate`, which works with them. */
export const workspaceTools = [
  'bash',
  'read_file',
  'write_file',
  'edit_file',
  'list_files',
  'search_files',
  'publish_artifact',
  'preview',
  'delegate',
] as const;
