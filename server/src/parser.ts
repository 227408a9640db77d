import { endProcess } from './platform/end-process.ts';
import { serveTasks } from './sandbox/serve.ts';

/** The child process that parses untrusted bytes. Each task is loaded when it is first asked for. */
serveTasks(
  {
    import: async () => (await import('./imports/import-task.ts')).importTask,
    manifest: async () => (await import('./provision/manifest/manifest-task.ts')).manifestTask,
    registry: async () => (await import('./catalogue/registry/registry-task.ts')).registryTask,
    skill: async () => (await import('./assistants/skill-task.ts')).skillTask,
    page: async () => (await import('./web-search/page-task.ts')).pageTask,
    document: async () => (await import('./documents/extract-task.ts')).extractTask,
    picture: async () => (await import('./artifacts/pictures/picture-task.ts')).pictureTask,
  },
  endProcess,
);
