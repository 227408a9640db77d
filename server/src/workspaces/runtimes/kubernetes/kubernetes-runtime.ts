import { type OpenRuntime, RuntimeFailure } from '../../runtime.ts';

export const openKubernetesRuntime: OpenRuntime = () => {
  throw new RuntimeFailure('workspaces of mode kubernetes are not built yet');
};
