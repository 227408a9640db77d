import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { ContainerStatus, Event, Pod } from 'kubernetes-types/core/v1.d.ts';
import { labels } from './names.ts';

/** State of a pod. `waiting`: `detail` is the reason; undefined if only its events contain it. */
export type PodState =
  | { phase: 'running'; address: string }
  | { phase: 'waiting'; detail: string | undefined }
  | { phase: 'failed'; reason: string };

const detailLength = 300;

/** Waits that will never end, in the kubelet's words and in ours. */
const hopeless: Record<string, string> = {
  ErrImagePull: 'Its image cannot be pulled',
  ImagePullBackOff: 'Its image cannot be pulled',
  ErrImageNeverPull: 'Its image is not on the node',
  InvalidImageName: 'The name of its image is not valid',
  ImageInspectError: 'Its image cannot be read',
  CreateContainerConfigError: 'Its container cannot be set up',
  CreateContainerError: 'Its container cannot be created',
  RunContainerError: 'Its container cannot be started',
  CrashLoopBackOff: 'It crashes right after it starts',
};

/** A pod that is being deleted belongs to the past: pass undefined for it. */
export function judgePod(pod: Pod | undefined): PodState {
  if (pod === undefined) return { phase: 'waiting', detail: undefined };
  const [container] = pod.status?.containerStatuses ?? [];
  const waiting = container?.state?.waiting;
  const reason = waiting?.reason ?? '';
  if (hopeless[reason] !== undefined) {
    const end = reason === 'CrashLoopBackOff' ? endOf(container) : waiting?.message;
    return { phase: 'failed', reason: sentence(hopeless[reason], end) };
  }
  if (pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') {
    return { phase: 'failed', reason: sentence('Its pod ended', pod.status.message ?? pod.status.reason) };
  }
  const address = pod.status?.podIP;
  if (container?.state?.running !== undefined && address !== undefined) return { phase: 'running', address };
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False') return { phase: 'waiting', detail: whyUnscheduled(scheduled.message ?? '') };
  if (container?.state?.terminated !== undefined) {
    return { phase: 'waiting', detail: sentence('It ended and is being restarted', endOf(container)) };
  }
  return { phase: 'waiting', detail: undefined };
}

/** Reason of a wait from the latest events of the pod, or of the StatefulSet that cannot create one. */
export function explainEvents(events: readonly Event[]): string | undefined {
  const newestFirst = [...events].sort((a, b) => timeOf(b).localeCompare(timeOf(a)));
  for (const { reason, message } of newestFirst) {
    switch (reason) {
      case 'Pulling':
        return 'Pulling the image';
      case 'Scheduled':
      case 'Pulled':
      case 'Created':
        return 'Preparing its container';
      case 'FailedMount':
      case 'FailedAttachVolume':
      case 'FailedMapVolume':
      case 'ProvisioningFailed':
        return sentence('Waiting for a volume', message);
      case 'FailedCreatePodSandBox':
      case 'FailedCreatePodSandbox':
        return sentence('Waiting for its network', message);
      case 'FailedCreate':
        return sentence('The cluster refuses its pod', message);
      // Anything older belongs to the previous pod.
      case 'SuccessfulCreate':
      case 'SuccessfulDelete':
        return undefined;
    }
  }
  return undefined;
}

/** Why its container ended last time, if it has restarted; undefined if it never did. */
export function lastEnd(pod: Pod | undefined): string | undefined {
  const [container] = pod?.status?.containerStatuses ?? [];
  const end = container === undefined ? undefined : endOf(container);
  return end === undefined ? undefined : sentence('It was restarted', end);
}

export function isDeleted({ metadata }: Pod | StatefulSet): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

/** It is being deleted, and its containers have ended or never began. */
export function hasEnded(pod: Pod): boolean {
  const containers = pod.status?.containerStatuses ?? [];
  const isUnborn = pod.spec?.nodeName === undefined;
  const isOver = containers.length > 0 && containers.every(({ state }) => state?.terminated !== undefined);
  return isDeleted(pod) && (isUnborn || isOver);
}

export function generationOf({ metadata }: Pod | StatefulSet): number {
  return Number(metadata?.labels?.[labels.generation] ?? 0);
}

export function isWanted(set: StatefulSet): boolean {
  return !isDeleted(set) && (set.spec?.replicas ?? 1) > 0;
}

function whyUnscheduled(message: string): string {
  return /PersistentVolumeClaim|volume/i.test(message)
    ? sentence('Waiting for a volume', message)
    : sentence('Unschedulable', message);
}

function endOf(container: ContainerStatus | undefined): string | undefined {
  const ended = container?.lastState?.terminated ?? container?.state?.terminated;
  if (ended === undefined) return undefined;
  if (ended.reason === 'OOMKilled') return 'it ran out of memory';
  return sentence(`exit code ${ended.exitCode}`, ended.message);
}

function timeOf({ lastTimestamp, eventTime, metadata }: Event): string {
  return String(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '');
}

/** One line, bounded: a cluster's messages may contain anything. */
function sentence(text: string, more: string | undefined): string {
  const line = (more ?? '').replaceAll(/\s+/g, ' ').trim();
  if (line === '') return text;
  return `${text}: ${line.length > detailLength ? `${line.slice(0, detailLength)}…` : line}`;
}
