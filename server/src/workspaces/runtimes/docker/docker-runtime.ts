import { type OpenRuntime, RuntimeFailure } from '../../runtime.ts';

export const openDockerRuntime: OpenRuntime = () => {
  throw new RuntimeFailure('workspaces of mode docker are not built yet');
};
