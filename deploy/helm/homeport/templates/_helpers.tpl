{{- include "homeport.checks" . }}
{{- $s3 := .Values.artifacts.s3 }}
{{- $secrets := include "homeport.secrets" . | fromYaml }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "homeport.name" . }}
  namespace: {{ .Release.Namespace }}
  labels: {{- include "homeport.labels" . | nindent 4 }}
  annotations:
    homeport.release: {{ include "homeport.release" . | quote }}
    {{- with .Values.annotations }}
    {{- include "homeport.texts" . | nindent 4 }}
    {{- end }}
spec:
  replicas: {{ .Values.replicas | int64 }}
  selector:
    matchLabels: {{- include "homeport.selector" . | nindent 6 }}
  strategy:
    {{- if eq (include "homeport.strategy" .) "RollingUpdate" }}
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
    {{- else }}
    type: Recreate
    {{- end }}
  template:
    metadata:
      labels:
        {{- include "homeport.labels" . | nindent 8 }}
        {{- with omit .Values.podLabels "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "helm.sh/chart" }}
        {{- include "homeport.texts" . | nindent 8 }}
        {{- end }}
      {{- with .Values.podAnnotations }}
      annotations: {{- include "homeport.texts" . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "homeport.name" . }}
      automountServiceAccountToken: {{ .Values.workspaces.enabled }}
      enableServiceLinks: false
      # Leaves running answers time to finish after the cluster has stopped sending requests.
      terminationGracePeriodSeconds: {{ add 60 (.Values.drainSeconds | int64) }}
      {{- with .Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.podSecurityContext }}
      securityContext: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: homeport
          image: {{ include "homeport.image" . | quote }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          ports:
            - { name: http, containerPort: 3000, protocol: TCP }
            {{- if .Values.workspaces.enabled }}
            - { name: workspaces, containerPort: 3001, protocol: TCP }
            {{- end }}
          env:
            - { name: HOST, value: '0.0.0.0' }
            - { name: PORT, value: '3000' }
            - { name: DATA_DIR, value: /data }
            - { name: DRAIN_SECONDS, value: {{ .Values.drainSeconds | int64 | quote }} }
            - { name: BASE_URL, value: {{ .Values.baseUrl | quote }} }
            # Files, so that no child process and no dump of an environment contains them.
            {{- range $name, $from := $secrets }}
            - { name: {{ $name }}_FILE, value: /run/secrets/homeport/{{ $name }} }
            {{- end }}
            {{- if .Values.metrics.existingSecret }}
            - { name: METRICS_TOKEN_FILE, value: /run/secrets/metrics/METRICS_TOKEN }
            {{- end }}
            {{- if $s3.location }}
            - { name: ARTIFACT_STORE, value: {{ $s3.location | quote }} }
            - { name: AWS_REGION, value: {{ $s3.region | quote }} }
            {{- with $s3.endpoint }}
            - { name: AWS_ENDPOINT_URL_S3, value: {{ . | quote }} }
            {{- end }}
            {{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
            - { name: {{ . }}_FILE, value: /run/secrets/artifacts/{{ . }} }
            {{- end }}
            {{- else }}
            - { name: ARTIFACT_STORE, value: /artifacts }
            {{- end }}
            {{- if .Values.workspaces.enabled }}
            - { name: WORKSPACE_MODE, value: kubernetes }
            - { name: WORKSPACE_NAMESPACE, value: {{ include "homeport.workspaceNamespace" . }} }
            - { name: WORKSPACE_INSTALLATION, value: {{ .Values.workspaces.installation }} }
            - { name: WORKSPACE_IMAGE, value: {{ .Values.workspaces.image | quote }} }
            - { name: WORKSPACE_PORT, value: '3001' }
            - name: WORKSPACE_CONTROL_URL
              value: http://{{ include "homeport.name" . }}-workspaces.{{ .Release.Namespace }}.svc:3001
            - name: WORKSPACE_CONTROL_PODS
              value: app.kubernetes.io/name=homeport,app.kubernetes.io/instance={{ .Release.Name }}
            - { name: WORKSPACE_STORAGE_SIZE, value: {{ .Values.workspaces.storageSize }} }
            - { name: WORKSPACE_MEMORY_MB, value: {{ .Values.workspaces.memoryMb | int64 | quote }} }
            - { name: WORKSPACE_CPUS, value: {{ include "homeport.text" .Values.workspaces.cpus | quote }} }
            {{- with .Values.workspaces.storageClass }}
            - { name: WORKSPACE_STORAGE_CLASS, value: {{ . }} }
            {{- end }}
            {{- with .Values.workspaces.runtimeClass }}
            - { name: WORKSPACE_RUNTIME_CLASS, value: {{ . }} }
            {{- end }}
            {{- else }}
            - { name: WORKSPACE_MODE, value: disabled }
            {{- end }}
            {{- range $name, $value := .Values.settings }}
            - { name: {{ $name }}, value: {{ include "homeport.text" $value | quote }} }
            {{- end }}
            {{- range .Values.extraEnv }}
            - name: {{ .name }}
              {{- if hasKey . "value" }}
              value: {{ include "homeport.text" .value | quote }}
              {{- end }}
              {{- with .valueFrom }}
              valueFrom: {{- toYaml . | nindent 16 }}
              {{- end }}
            {{- end }}
          {{- with .Values.extraEnvFrom }}
          envFrom: {{- toYaml . | nindent 12 }}
          {{- end }}
          # The database is migrated before the server listens, which can take hours. A failed start exits, so this waits for a day.
          startupProbe:
            tcpSocket: { port: http }
            periodSeconds: 2
            failureThreshold: 43200
          readinessProbe:
            httpGet: { path: /api/health, port: http }
            periodSeconds: 5
            timeoutSeconds: 5
          # Not /api/health: a restart does not restore a database.
          livenessProbe:
            httpGet: { path: /api/live, port: http }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          resources: {{- toYaml .Values.resources | nindent 12 }}
          {{- with .Values.securityContext }}
          securityContext: {{- toYaml . | nindent 12 }}
          {{- end }}
          volumeMounts:
            - { name: data, mountPath: /data }
            - { name: tmp, mountPath: /tmp }
            - { name: secrets, mountPath: /run/secrets/homeport, readOnly: true }
            {{- if .Values.metrics.existingSecret }}
            - { name: metrics-secret, mountPath: /run/secrets/metrics, readOnly: true }
            {{- end }}
            {{- if $s3.location }}
            - { name: artifact-secrets, mountPath: /run/secrets/artifacts, readOnly: true }
            {{- else }}
            - { name: artifacts, mountPath: /artifacts }
            {{- end }}
            {{- with .Values.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        # With an external database and store, its contents need not be kept.
        - { name: data, emptyDir: {} }
        - { name: tmp, emptyDir: {} }
        - name: secrets
          projected:
            defaultMode: {{ include "homeport.secretMode" $ }}
            sources:
              {{- range $name, $from := $secrets }}
              - secret:
                  name: {{ $from.secret | default $.Values.existingSecret }}
                  items: [{ key: {{ $from.key | default $name }}, path: {{ $name }} }]
              {{- end }}
        {{- with .Values.metrics.existingSecret }}
        - name: metrics-secret
          secret: { secretName: {{ . }}, defaultMode: {{ include "homeport.secretMode" $ }}, items: [{ key: METRICS_TOKEN, path: METRICS_TOKEN }] }
        {{- end }}
        {{- if $s3.location }}
        - name: artifact-secrets
          secret: { secretName: {{ $s3.existingSecret }}, defaultMode: {{ include "homeport.secretMode" $ }} }
        {{- else }}
        - name: artifacts
          persistentVolumeClaim: { claimName: {{ .Values.artifacts.existingClaim }} }
        {{- end }}
        {{- with .Values.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- if .Values.topologySpread }}
      # Spreads pods over nodes and zones if possible; a pod that fits nowhere else is still scheduled.
      topologySpreadConstraints:
        {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
        - maxSkew: 1
          topologyKey: {{ . }}
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{- include "homeport.selector" $ | nindent 14 }}
        {{- end }}
      {{- end }}
      {{- with .Values.nodeSelector }}
      nodeSelector: {{- include "homeport.texts" . | nindent 8 }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
